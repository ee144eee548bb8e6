/** A pattern of text that stands in JSON as it is: no control character, quote or backslash. */
export const plainText = "[ !#-[\\]-\\uffff]*";
