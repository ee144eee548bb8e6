/** Money, units of measure, percentages: a number together with what it counts. */
import { amountWords, decade } from "./number-words.ts";
import { anyOf, type Groups, type Rule, tableOf } from "./rules.ts";

type Unit = readonly [one: string, many: string];

const unitOf = (name: string): Unit => {
  const [one = "", many] = name.split(",");
  const [head = "", tail = ""] = one.split(/(?= per | Celsius| Fahrenheit)/u);
  return [one, many ?? `${head}s${tail}`];
};

const currencies: ReadonlyMap<string, { readonly unit: Unit; readonly cent: Unit }> = new Map(
  [
    ...tableOf(
      "$=dollar/cent|€=euro/cent|£=pound/penny,pence|¥=yen,yen/sen,sen|₹=rupee/paisa,paise|USD=US dollar/cent|EUR=euro/cent|GBP=British pound/penny,pence|JPY=yen,yen/sen,sen|CHF=Swiss franc/cent|CAD=Canadian dollar/cent",
    ),
  ].map(([name, said]) => {
    const [unit = "", cent = ""] = said.split("/");
    return [name, { unit: unitOf(unit), cent: unitOf(cent) }];
  }),
);

const magnitudes = tableOf(
  "k=thousand|m=million|b=billion|bn=billion|t=trillion|thousand=thousand|million=million|billion=billion|trillion=trillion",
);

const units: ReadonlyMap<string, Unit> = new Map(
  [
    ...tableOf(
      `km/h=kilometer per hour|kph=kilometer per hour|mph=mile per hour|m/s=meter per second
      |km²=square kilometer|m²=square meter|cm²=square centimeter|m³=cubic meter|sq ft=square foot,square feet
      |km=kilometer|cm=centimeter|mm=millimeter|nm=nanometer|m=meter|mi=mile|ft=foot,feet|yd=yard
      |kg=kilogram|mg=milligram|g=gram|lb=pound|lbs=pound|oz=ounce|L=liter|l=liter|ml=milliliter|mL=milliliter
      |tsp=teaspoon|tbsp=tablespoon|°C=degree Celsius|°F=degree Fahrenheit|°=degree|%=percent,percent
      |kB=kilobyte|KB=kilobyte|MB=megabyte|GB=gigabyte|TB=terabyte|GiB=gibibyte|MiB=mebibyte
      |kbps=kilobit per second|Mbps=megabit per second|Gbps=gigabit per second|MB/s=megabyte per second
      |GB/s=gigabyte per second|fps=frame per second|rpm=revolution per minute|Hz=hertz,hertz
      |kHz=kilohertz,kilohertz|MHz=megahertz,megahertz|GHz=gigahertz,gigahertz|W=watt|kW=kilowatt|MW=megawatt
      |kWh=kilowatt hour|V=volt|mAh=milliamp hour|dB=decibel|kcal=kilocalorie|ns=nanosecond|µs=microsecond
      |ms=millisecond|s=second|sec=second|min=minute|mins=minute|h=hour|hr=hour|hrs=hour|yr=year|yrs=year|px=pixel`,
    ),
  ].map(([name, said]) => [name, unitOf(said)]),
);

const number = "\\d+(?:,\\d{3})*(?:\\.\\d+)?|\\.\\d+";
const mixed = "(?:\\d+(?:,\\d{3})*[\\s-]+)?\\d{1,2}/\\d{1,2}";
const amount = `(?<minus>(?<![\\w)])[-−])?(?<amount>${mixed}|${number})(?:\\s?(?:-|–|to)\\s?[$€£]?(?<to>${number}))?`;
const scale = "(?:\\s?(?<scale>thousand|million|billion|trillion|bn|[kKMBT])\\b)?";
const codes = anyOf([...currencies.keys()].filter((name) => /[A-Z]/u.test(name)));
const money = "(?<=\\b(?:dollars?|euros?|pounds?|yen|rupees?|cents?))";

export const quantityRules: readonly Rule[] = [
  // $3.50, £1.2 million, -€20, $5-10, $2 1/2 million
  [
    new RegExp(
      `(?<minus2>(?<!\\w)[-−])?(?<currency>\\b(?:${codes})\\b|[$€£¥₹])\\s?${amount}${scale}`,
      "gu",
    ),
    sayMoney,
  ],
  // 5 USD, 20 €, 50¢
  [
    new RegExp(`(?<![\\w.,])${amount}${scale}\\s?(?<currency>[€£¥₹]|(?:${codes})\\b)`, "gu"),
    sayMoney,
  ],
  [/¢/gu, " cents"],
  [
    new RegExp(`${money}\\s?/\\s?(?<unit>[a-z]+)`, "gu"),
    ({ unit = "" }) => ` per ${unit === "mo" ? "month" : (units.get(unit)?.[0] ?? unit)}`,
  ],
  // 5'10"
  [/(?<![\w.])(?<feet>[1-9])['′](?<inches>1[01]|\d)(?:["″]|'')/gu, "$<feet> foot $<inches>"],
  // "the 90s" and "the 1990s" are decades, "90s" alone is a time
  [
    /(?<=\b(?:the|early|late|mid|his|her|their|my)[\s-])(?<tens>[1-9]0)s\b|(?<!\w)'(?<short>[1-9]0)s\b|\b(?<full>1[1-9]\d0|20\d0)'?s\b/giu,
    ({ tens, short, full }) => decade(tens ?? short ?? full ?? ""),
  ],
  [
    new RegExp(
      `(?<![\\w.,/])${amount}[\\s-]?(?<unit>${anyOf(units.keys())})(?![\\w°²³%]|/[A-Za-z])`,
      "gu",
    ),
    sayUnit,
  ],
  // 4K and 5G are names, 10K is a count; a lone "12B" is a house or a seat
  [/(?<![\w.,])(?<n>[48](?=K)|[2-6](?=G)|[23](?=D))(?<letter>[KGD])\b/gu, "$<n> ·$<letter>"],
  [
    new RegExp(
      `(?<![\\w.,$])(?<amount>${number})(?<scale>[kKM]|B(?<=[.,]\\d+B)|B(?=[\\s-](?:[a-z]+\\s)?(?:param|model|token|people|user)))\\b`,
      "gu",
    ),
    ({ amount: count = "", scale: by = "" }) =>
      `${amountWords(count)} ${magnitudes.get(by.toLowerCase()) ?? by}`,
  ],
  [/(?<![\w.,])(?<n>\d+)(?<letter>[A-Z])\b/gu, "$<n> ·$<letter>"],
  // 1920x1080, then 3x
  [/(?<![\w.,])(?<a>\d+)\s?[x×]\s?(?=\d)/gu, "$<a> by "],
  [/(?<=\d)[x×](?!\w)/gu, " times"],
];

function sayMoney(groups: Groups): string | undefined {
  const { amount: from = "", to, scale: by = "", currency = "", minus, minus2 } = groups;
  const said = currencies.get(currency);
  if (said === undefined) return undefined;
  const sign = minus === undefined && minus2 === undefined ? "" : "minus ";
  const magnitude = magnitudes.get(by.toLowerCase());
  const [whole = "", cents] = from.split(".");
  if (to !== undefined || magnitude !== undefined || cents?.length !== 2)
    return sign + counted({ from, to, unit: said.unit, magnitude });
  const parts: string[] = [];
  if (Number(whole.replaceAll(",", "")) > 0) parts.push(counted({ from: whole, unit: said.unit }));
  if (cents !== "00" || parts.length === 0) parts.push(counted({ from: cents, unit: said.cent }));
  return sign + parts.join(" and ");
}

function sayUnit({ minus, amount: from = "", to, unit: name = "" }: Groups): string | undefined {
  const unit = units.get(name);
  if (unit === undefined) return undefined;
  return (minus === undefined ? "" : "minus ") + counted({ from, to, unit });
}

interface Count {
  readonly from: string;
  readonly to?: string | undefined;
  readonly unit: Unit;
  readonly magnitude?: string | undefined;
}

function counted({ from, to, unit: [one, many], magnitude }: Count): string {
  const words = amountWords(from) + (to === undefined ? "" : ` to ${amountWords(to)}`);
  if (magnitude !== undefined) return `${words} ${magnitude} ${many}`;
  if (words === "one half") return `half a ${one}`;
  if (/^\d+\/\d+$/u.test(from)) return `${words} of a ${one}`;
  return `${words} ${to === undefined && Number(from) === 1 ? one : many}`;
}
