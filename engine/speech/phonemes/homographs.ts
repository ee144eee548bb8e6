/**
 * Words spelled alike and spoken apart, in Kokoro's phonemes: the noun or adjective, then the verb. The
 * one that holds when the neighbors say nothing comes first in use; a star marks the verb as that one.
 */
const table = `
abuse əbjˈus əbjˈuz
advocate ˈædvəkət ˈædvəkˌAt
aggregate ˈæɡɹəɡət ˈæɡɹəɡˌAt
alternate ˈɔltəɹnət ˈɔltəɹnˌAt
appropriate əpɹˈOpɹiət əpɹˈOpɹiˌAt
approximate əpɹˈɑksəmət əpɹˈɑksəmˌAt
articulate ɑɹtˈɪkjələt ɑɹtˈɪkjəlˌAt
associate əsˈOsiət əsˈOsiˌAt
attribute ˈætɹəbjˌut ətɹˈɪbjˌut
close klˈOs klˈOz
combine kˈɑmbˌIn kəmbˈIn *
compound kˈɑmpˌWnd kəmpˈWnd
compress kˈɑmpɹˌɛs kəmpɹˈɛs *
conduct kˈɑndˌʌkt kəndˈʌkt
conflict kˈɑnflˌɪkt kənflˈɪkt
console kˈɑnsˌOl kənsˈOl
construct kˈɑnstɹˌʌkt kənstɹˈʌkt *
content kˈɑntˌɛnt kəntˈɛnt
contest kˈɑntˌɛst kəntˈɛst
contract kˈɑntɹˌækt kəntɹˈækt
contrast kˈɑntɹˌæst kəntɹˈæst
convert kˈɑnvˌɜɹt kənvˈɜɹt *
convict kˈɑnvˌɪkt kənvˈɪkt
coordinate kOˈɔɹdənət kOˈɔɹdənˌAt
decrease dˈikɹˌis dəkɹˈis
delegate dˈɛləɡət dˈɛləɡˌAt
deliberate dəlˈɪbəɹət dəlˈɪbəɹˌAt
desert dˈɛzəɹt dəzˈɜɹt
digest dˈIʤˌɛst dIʤˈɛst *
duplicate dˈupləkət dˈupləkˌAt
elaborate əlˈæbəɹət əlˈæbəɹˌAt
estimate ˈɛstəmət ˈɛstəmˌAt
excuse ɪkskjˈus ɪkskjˈuz *
exploit ˈɛksplˌYt ɪksplˈYt *
export ˈɛkspˌɔɹt ɪkspˈɔɹt
extract ˈɛkstɹˌækt ɪkstɹˈækt *
graduate ɡɹˈæʤuət ɡɹˈæʤuˌAt
house hˈWs hˈWz
import ˈɪmpˌɔɹt ɪmpˈɔɹt
impress ˈɪmpɹˌɛs ɪmpɹˈɛs *
increase ˈɪnkɹˌis ɪnkɹˈis
insert ˈɪnsˌɜɹt ɪnsˈɜɹt *
insult ˈɪnsˌʌlt ɪnsˈʌlt
intimate ˈɪntəmət ˈɪntəmˌAt
live lˈIv lˈɪv *
moderate mˈɑdəɹət mˈɑdəɹˌAt
object ˈɑbʤɛkt əbʤˈɛkt
perfect pˈɜɹfəkt pəɹfˈɛkt
permit pˈɜɹmˌɪt pəɹmˈɪt
present pɹˈɛzᵊnt pɹəzˈɛnt
produce pɹˈOdˌus pɹədˈus *
progress pɹˈɑɡɹˌɛs pɹəɡɹˈɛs
project pɹˈɑʤˌɛkt pɹəʤˈɛkt
protest pɹˈOtˌɛst pɹətˈɛst
rebel ɹˈɛbᵊl ɹəbˈɛl
record ɹˈɛkəɹd ɹəkˈɔɹd
refund ɹˈifˌʌnd ɹifˈʌnd
refuse ɹˈɛfjˌus ɹəfjˈuz *
reject ɹˈiʤˌɛkt ɹəʤˈɛkt *
resume ɹˈɛzəmˌA ɹəzˈum *
separate sˈɛpəɹət sˈɛpəɹˌAt
subject sˈʌbʤɛkt səbʤˈɛkt
survey sˈɜɹvˌA səɹvˈA
suspect sˈʌspˌɛkt səspˈɛkt
tear tˈɪɹ tˈɛɹ
transfer tɹˈænsfˌɜɹ tɹænsfˈɜɹ
transform tɹˈænsfˌɔɹm tɹænsfˈɔɹm *
transport tɹˈænspˌɔɹt tɹænspˈɔɹt
upgrade ˈʌpɡɹˌAd ˌʌpɡɹˈAd
use jˈus jˈuz *
wind wˈɪnd wˈInd
wound wˈund wˈWnd
`;

export type Role = "noun" | "verb";

interface Homograph {
  readonly noun: string;
  readonly verb: string;
  readonly usual: Role;
}

const homographs: ReadonlyMap<string, Homograph> = new Map(
  table
    .trim()
    .split("\n")
    .map((line) => {
      const [word = "", noun = "", verb = "", star] = line.split(" ");
      return [word, { noun, verb, usual: star === undefined ? "noun" : "verb" }] as const;
    }),
);

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));

const beforeVerbs = words(
  "to will would can could should must may might shall i you we they who let's don't didn't doesn't can't couldn't won't wouldn't shouldn't not never please and i'll you'll we'll they'll he'll she'll it'll",
);
const beforeNouns = words(
  "a an the this that these those my your his her its our their no some any each every another all most more many few several both of in on at for with by from about under per one two three four five six seven eight nine ten first second last next new old good great same own whose which",
);
const beforeParticiples = words(
  "have has had was were been be is are having he she it i've you've we've they've already ever",
);

/** The word's phonemes as `role`, or in its usual role; `undefined` for all other words. */
export function homograph(word: string, role: Role | undefined): string | undefined {
  const entry = homographs.get(word);
  return entry?.[role ?? entry.usual];
}

/** What the word before says of a word that is noun and verb. */
export function roleAfter(previous: string | undefined): Role | undefined {
  if (previous === undefined) return undefined;
  if (beforeNouns.has(previous) || previous.endsWith("'s")) return "noun";
  return beforeVerbs.has(previous) ? "verb" : undefined;
}

/** "Read" is said "red" in the past, which only its neighbors show. */
export function isPastRead(previous: string | undefined): boolean {
  return previous !== undefined && beforeParticiples.has(previous);
}
