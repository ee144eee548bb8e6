import { expect, test } from "bun:test";
import { type Line, ledgerCsv, monthWords } from "./billing.ts";

const usage: Line = {
  kind: "usage",
  at: "2027-01-12",
  amount_usd: "-1.25",
  balance_usd: "8.75",
  reference: null,
  note: null,
  model: "svc-3-flash",
  receipts: 3,
};
const credit: Line = {
  kind: "credit",
  at: "2027-01-10T09:00:00Z",
  amount_usd: "10.00",
  balance_usd: "10.00",
  reference: "invoice 7, part 2",
  note: "=SUM(A1)",
  model: null,
  receipts: null,
};

test("a month is named as people name it, wherever they are", () => {
  expect(monthWords("2027-01")).toBe("January 2027");
});

test("the file has the lines of the page, money with every digit", () => {
  expect(ledgerCsv([usage, credit]).split("\r\n")).toEqual([
    "at,kind,model,requests,reference,note,amount_usd,balance_usd",
    "2027-01-12,usage,svc-3-flash,3,,,-1.25,8.75",
    `2027-01-10T09:00:00Z,credit,,,"invoice 7, part 2",'=SUM(A1),10.00,10.00`,
    "",
  ]);
});
