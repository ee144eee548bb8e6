/**
 * The small words of English in Kokoro's phonemes. They carry little stress within a sentence; the
 * strong form, where one is given, stands before a pause ("Yes, you can.").
 */
const table = `
a ɐ ˈA
am æm ˈæm
an ɐn
and ænd
are ɑɹ ˈɑɹ
as æz
at æt
be bi bˈi
been bɪn bˈɪn
but bˌʌt
by bI bˈI
can kæn kˈæn
could kʊd kˈʊd
did dˈɪd
do du dˈu
does dˌʌz dˈʌz
down dˌWn dˈWn
for fɔɹ fˈɔɹ
from fɹʌm fɹˈʌm
had hæd hˈæd
has hæz hˈæz
have hæv hˈæv
he hi hˈi
her hɜɹ hˈɜɹ
him hˌɪm
his hɪz hˈɪz
how hˌW hˈW
i ˌI ˈI
if ɪf
in ɪn ˈɪn
into ˈɪntu
is ɪz ˈɪz
it ɪt
its ɪts
may mˈA
me mˌi
might mˌIt mˈIt
must mˌʌst mˈʌst
my mI
near nˌɪɹ
not nˌɑt nˈɑt
of ʌv
off ˈɔf
on ˌɔn ˈɔn
or ɔɹ
our ˌWəɹ
per pɜɹ
shall ʃˌæl ʃˈæl
she ʃi ʃˈi
should ʃˌʊd ʃˈʊd
so sˌO sˈO
some sˌʌm sˈʌm
than ðən
that ðæt ðˈæt
the ðə
their ðɛɹ
them ðˌɛm
there ðɛɹ ðˈɛɹ
these ðiz ðˈiz
they ðA ðˈA
this ðɪs ðˈɪs
those ðOz ðˈOz
though ðˌO ðˈO
through θɹu θɹˈu
to tə tˈu
up ˌʌp ˈʌp
us ˌʌs
was wʌz wˈʌz
we wi wˈi
were wɜɹ wˈɜɹ
what wˌʌt wˈʌt
when wˌɛn wˈɛn
where wˌɛɹ wˈɛɹ
which wˌɪʧ wˈɪʧ
while wˌIl
who hˌu hˈu
whose hˌuz
why wˌI wˈI
will wɪl wˈɪl
with wɪð
would wʊd wˈʊd
you ju jˈu
your jʊɹ
i'd ˌId
i'll ˌIl
i'm ˌIm
i've ˌIv
he'd hid
he'll hil
he's hiz
she'd ʃid
she'll ʃil
she's ʃiz
it'd ˈɪTəd
it'll ˈɪTᵊl
it's ˌɪts
we'd wid
we'll wil
we're wɪɹ
we've wiv
you'd jud
you'll jul
you're jʊɹ
you've juv
they'd ðAd
they'll ðAl
they're ðɛɹ
they've ðAv
that'd ðˈæTəd
that'll ðˈæTᵊl
that's ðˌæts
there's ðɛɹz
there'll ðˈɛɹᵊl
here's hˈɪɹz
what's wˌʌts
who's hˌuz
where's wˌɛɹz
how's hˌWz
when's wˌɛnz
let's lˌɛts
ain't ˈAnt
aren't ˈɑɹnt
can't kˈænt
couldn't kˈʊdᵊnt
could've kˈʊdəv
didn't dˈɪdᵊnt
doesn't dˈʌzᵊnt
don't dˈOnt
hadn't hˈædᵊnt
hasn't hˈæzᵊnt
haven't hˈævᵊnt
isn't ˈɪzᵊnt
mightn't mˈItᵊnt
mustn't mˈʌsᵊnt
needn't nˈidᵊnt
shan't ʃˈænt
should've ʃˈʊdəv
shouldn't ʃˈʊdᵊnt
wasn't wˈʌzᵊnt
weren't wˈɜɹnt
won't wˈOnt
would've wˈʊdəv
wouldn't wˈʊdᵊnt
o'clock əklˈɑk
y'all jˈɔl
ma'am mˈæm
`;

export interface FunctionWord {
  readonly weak: string;
  readonly strong: string;
}

export const functionWords: ReadonlyMap<string, FunctionWord> = new Map(
  table
    .trim()
    .split("\n")
    .map((line) => {
      const [word = "", weak = "", strong = weak] = line.split(" ");
      return [word, { weak, strong }] as const;
    }),
);
