/** Words in capitals: spelled letter by letter, read as a word, or merely loud. */
import { type Rule, rule } from "./rules.ts";

/** Read as a word; the lexicon knows how. */
const spoken = new Set(
  "ACID AIDS AJAX ASCII ASEAN AWOL BASIC BIOS CAD CAPTCHA COBOL COVID CRISPR CRUD CUDA DEFCON DOS EPROM FEMA FIFA FIFO FOMO GAN GIF GNU GUI HIPAA IKEA IMAX INTERPOL ISO JPEG JSON LAN LASER LIDAR LLAMA MENSA MIDI MODEM NAFTA NASA NASDAQ NATO NIMBY NOAA NORAD OAUTH OK OPEC OSHA PETA PIN RADAR RAID RAM REGEX REST ROM SAAS SARS SCSI SCUBA SIM SOAP SONAR SWAT TOML UNESCO UNICEF UNIX WAN WIFI YAML YOLO ZIP".split(
    " ",
  ),
);

/** Spelled although they could be read as a word. */
const spelled = new Set(
  "US IT UK EU UN AI AM PM TV PC ID IP OS UI UX HR PR DJ MC AC DC LA NY VP ASAP DIY FAQ USA USB URL API CIA FBI IRA IRS SOS VIP ATM CEO CFO CTO COO IOU ETA EST ISP ICU ADHD AOL ESPN AAA IEEE UFO AMA AMD ARM CPU GPU IDE LED VAT JWT SQL IDS LLM MIT NBA NFL NHL MLB UPS SUV ETF IPO ROI KPI NGO IQ EQ ER EV PhD".split(
    " ",
  ),
);

/** Common words that people put in capitals to be loud. */
const loud = new Set(
  "a about all also always am an and any are as at back bad be because been before best better big both but buy by can come could day did do does done down each end even ever every fast few find first for free from full get give go good great had has have he help her here high him his hot how huge i if important in into is it its job just keep know large last less let life like little live long look lot love low made make man many may me more most much must my name need never new next nice no none not note nothing now of off oh old on once one only open or other our out over own part people place please real really right run safe same say see she should show so some soon stop such sure take than thank that the their them then there these they thing think this those time to today too top true try two under until up upon us use very wait want warning was way we well went were what when where which while who why will win with work world would wow wrong yes yet you your hello dog cat red blue green black white hey bye ask act add age air ago bit box car cut eat far fun god gun guy hit ice joy kid law lie map mom dad mix odd oil pay put raw sad sea set sit six sky son sun tax tea ten tie tip war wet win zoo danger caution never ever nobody everyone everything".split(
    " ",
  ),
);

/** Two consonants in a row that no English syllable can hold; a word in capitals with them is spelled. */
const unpronounceable =
  /^[^AEIOUY]+$|^[^AEIOUY]{3,}(?<!S[CPT][RL])|[AEIOUY]{3,}|^(?:[BDFGKMNPRTV][BCDFGKMNPTVZ]|L[^AEIOUY]|R[^AEIOUYH]|N[^AEIOUY]|M[^AEIOUY])|(?:[BCDFGKPTV][BDFGKMNV]|[^AEIOUY]{4,}|SB|SD|SG|BN|DN|ML|SR|TM|UU|II)$|Q(?!U)/u;

/** Written small as often as in capitals, and then said the same. */
const small =
  "npm|npx|https|http|api|url|uri|json|html|css|xml|csv|sql|cpu|gpu|llm|sdk|cli|ssh|dns|tcp|udp|ssl|tls";

const spell = (letters: string): string =>
  letters.length === 1 ? `·${letters}` : [...letters].join("·");

/** Before the numbers, which would otherwise part them from their names. */
export const nameRules: readonly Rule[] = [
  rule(/\bC\+\+/gu, () => "·C plus plus"),
  rule(/\b(?<letter>[CFJ])#/gu, ({ letter = "" }) => `·${letter} sharp`),
  rule(/(?<!\w)\.NET\b/gu, () => "dot net"),
  rule(/\b(?:PhD|Ph\.D)\b/gu, () => "P·H·D"),
  rule(/\bAT&T\b/gu, () => "A·T and T"),
  rule(/\bCtrl\b/giu, () => "control"),
  rule(/\biOS\b/gu, () => "ios"),
  rule(/\bmacOS\b/gu, () => "macos"),
  rule(/\bWi-?Fi\b/giu, () => "wifi"),
  // COVID-19, GPT-4, MP3: the number is read on its own.
  rule(/(?<=\b[A-Z]{1,6})-(?=\d)/gu, () => " "),
];

export const acronymRules: readonly Rule[] = [
  // YouTube, camelCase, vCPUs
  rule(/(?<=[a-z]{2})(?=[A-Z][A-Za-z])|(?<=[a-z])(?=[A-Z]{2,}s?\b)/gu, (_, { before }) =>
    /\b(?:Mc|Mac|O'|De|La|Le|Van|Di|Fitz)$/u.test(before) ||
    /\b(?:You|Git|Pay|Deep|Open|Java|Type|Photo|My|Postgre|Chat)$/u.test(before)
      ? ""
      : " ",
  ),
  rule(
    /(?<![\w·])(?<head>[A-Z]{2,})(?<tail>'?s)?(?![\w·])/gu,
    ({ head = "", tail = "" }, { before, after }) =>
      sayCapitals({ head, tail, shouting: isShouting(before, head, after) }),
  ),
  rule(
    new RegExp(`(?<![\\w·'])(?<head>${small})(?<tail>'?s)?(?![\\w·])`, "giu"),
    ({ head = "", tail = "" }) => sayCapitals({ head: head.toUpperCase(), tail, shouting: false }),
  ),
  // A lone capital A within a sentence is a letter: "vitamin A", "Hepatitis A vaccine".
  rule(
    /(?<=\b(?:vitamin|hepatitis|plan|option|group|team|type|grade|class|section|point|answer|part|exhibit|series|appendix|note)\s)A\b/giu,
    () => "·A",
  ),
];

function sayCapitals({
  head,
  tail,
  shouting,
}: {
  readonly head: string;
  readonly tail: string;
  readonly shouting: boolean;
}): string | undefined {
  const lower = head.toLowerCase();
  if (spoken.has(head)) return lower + tail;
  if (loud.has(lower) && (shouting || !spelled.has(head))) return undefined;
  const isSpelled =
    spelled.has(head) || unpronounceable.test(head) || (head.length <= 3 && !shouting);
  return isSpelled ? spell(head) + tail : undefined;
}

/** Most words of the sentence are common ones in capitals: nobody spells a whole sentence. */
function isShouting(before: string, head: string, after: string): boolean {
  const start = before.slice(
    Math.max(before.lastIndexOf("."), before.lastIndexOf("!"), before.lastIndexOf("?")) + 1,
  );
  const [end = ""] = after.split(/[.!?]/u, 1);
  const words = `${start}${head}${end}`.match(/[A-Za-z']{2,}/gu) ?? [];
  const capitals = words.filter((word) => word === word.toUpperCase() && isWord(word));
  return words.length >= 3 && capitals.length * 10 >= words.length * 6;
}

function isWord(capitals: string): boolean {
  if (loud.has(capitals.toLowerCase())) return true;
  return capitals.length >= 4 && !spelled.has(capitals) && !unpronounceable.test(capitals);
}
