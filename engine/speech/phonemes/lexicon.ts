/**
 * Words in Kokoro's phonemes. The small ones carry little stress within a sentence; a second form, where
 * there is one, stands before a pause ("Yes, you can.").
 */
const small = `
a ɐ ˈA|am æm ˈæm|an ɐn|and ænd|are ɑɹ ˈɑɹ|as æz|at æt|be bi bˈi|been bɪn bˈɪn|but bˌʌt|by bI bˈI
can kæn kˈæn|could kʊd kˈʊd|did dˈɪd|do du dˈu|does dˌʌz dˈʌz|down dˌWn dˈWn|for fɔɹ fˈɔɹ
from fɹʌm fɹˈʌm|had hæd hˈæd|has hæz hˈæz|have hæv hˈæv|he hi hˈi|her hɜɹ hˈɜɹ|him hˌɪm|his hɪz hˈɪz
how hˌW hˈW|i ˌI ˈI|if ɪf|in ɪn ˈɪn|into ˈɪntu|is ɪz ˈɪz|it ɪt|its ɪts|may mˈA|me mˌi
might mˌIt mˈIt|must mˌʌst mˈʌst|my mI|near nˌɪɹ|not nˌɑt nˈɑt|of ʌv|off ˈɔf|on ˌɔn ˈɔn|or ɔɹ
our ˌWəɹ|per pɜɹ|shall ʃˌæl ʃˈæl|she ʃi ʃˈi|should ʃˌʊd ʃˈʊd|so sˌO sˈO|some sˌʌm sˈʌm|than ðən
that ðæt ðˈæt|the ðə|their ðɛɹ|them ðˌɛm|there ðɛɹ ðˈɛɹ|these ðiz ðˈiz|they ðA ðˈA|this ðɪs ðˈɪs
those ðOz ðˈOz|though ðˌO ðˈO|through θɹu θɹˈu|to tə tˈu|up ˌʌp ˈʌp|us ˌʌs|was wʌz wˈʌz|we wi wˈi
were wɜɹ wˈɜɹ|what wˌʌt wˈʌt|when wˌɛn wˈɛn|where wˌɛɹ wˈɛɹ|which wˌɪʧ wˈɪʧ|while wˌIl|who hˌu hˈu
whose hˌuz|why wˌI wˈI|will wɪl wˈɪl|with wɪð|would wʊd wˈʊd|you ju jˈu|your jʊɹ|i'd ˌId|i'll ˌIl
i'm ˌIm|i've ˌIv|he'd hid|he'll hil|he's hiz|she'd ʃid|she'll ʃil|she's ʃiz|it'd ˈɪTəd|it'll ˈɪTᵊl
it's ˌɪts|we'd wid|we'll wil|we're wɪɹ|we've wiv|you'd jud|you'll jul|you're jʊɹ|you've juv
they'd ðAd|they'll ðAl|they're ðɛɹ|they've ðAv|that'd ðˈæTəd|that'll ðˈæTᵊl|that's ðˌæts
there's ðɛɹz|there'll ðˈɛɹᵊl|here's hˈɪɹz|what's wˌʌts|who's hˌuz|where's wˌɛɹz|how's hˌWz
when's wˌɛnz|let's lˌɛts|ain't ˈAnt|aren't ˈɑɹnt|can't kˈænt|couldn't kˈʊdᵊnt|could've kˈʊdəv
didn't dˈɪdᵊnt|doesn't dˈʌzᵊnt|don't dˈOnt|hadn't hˈædᵊnt|hasn't hˈæzᵊnt|haven't hˈævᵊnt
isn't ˈɪzᵊnt|mightn't mˈItᵊnt|mustn't mˈʌsᵊnt|needn't nˈidᵊnt|shan't ʃˈænt|should've ʃˈʊdəv
shouldn't ʃˈʊdᵊnt|wasn't wˈʌzᵊnt|weren't wˈɜɹnt|won't wˈOnt|would've wˈʊdəv|wouldn't wˈʊdᵊnt
o'clock əklˈɑk|y'all jˈɔl|ma'am mˈæm
`;

/** Words and names that phonemize gets wrong. An entry also serves its plural, past and -ing forms. */
const others = `
ache ˈAk|actual ˈækʧuəl|address ədɹˈɛs|adequate ˈædəkwət|adult ədˈʌlt|advice ədvˈIs|again əɡˈɛn
against əɡˈɛnst|alongside əlˌɔŋsˈId|always ˈɔlwˌAz|analyses ənˈæləsˌiz|angeles ˈænʤələs
anticipate æntˈɪsəpˌAt|anybody ˈɛnibˌɑdi|archive ˈɑɹkˌIv|arkansas ˈɑɹkənsˌɔ|async ˈAsˌɪŋk
athens ˈæθənz|atlas ˈætləs|aunt ˈænt|authentic ɔθˈɛntɪk|because bəkˈʌz|begun bəɡˈʌn|bias bˈIəs
bios bˈIˌOs|bow bˈO|bus bˈʌs|cache kˈæʃ|calm kˈɑm|canvas kˈænvəs|chaos kˈAˌɑs|chatgpt ʧˌætʤˌipˌitˈi
christmas kɹˈɪsməs|circulation sˌɜɹkjəlˈAʃən|clothes klˈOz|concentrate kˈɑnsəntɹˌAt
continuation kəntˌɪnjuˈAʃən|convention kənvˈɛnʃən|conventional kənvˈɛnʃənᵊl|cooperate kOˈɑpəɹˌAt
cooperation kOˌɑpəɹˈAʃən|corps kˈɔɹ|coworker kˈOwˌɜɹkəɹ|crises kɹˈIsˌiz|current kˈɜɹənt
cybersecurity sˌIbəɹsəkjˈʊɹəTi|dallas dˈæləs|data dˈATə|debut dAbjˈu|determination dətˌɜɹmənˈAʃən
developed dəvˈɛləpt|diabetes dˌIəbˈiTiz|diesel dˈizᵊl|direct dəɹˈɛkt|direction dəɹˈɛkʃən
directly dəɹˈɛktli|director dəɹˈɛktəɹ|directory dəɹˈɛktəɹi|documentary dˌɑkjəmˈɛntəɹi|does dˈʌz
during dˈʊɹɪŋ|effectively əfˈɛktɪvli|effectiveness əfˈɛktɪvnəs|eighteen ˌAtˈin|eighteenth ˌAtˈinθ
either ˈiðəɹ|eleven əlˈɛvᵊn|eleventh əlˈɛvᵊnθ|elite əlˈit|elon ˈilˌɑn|email ˈimˌAl|emerge əmˈɜɹʤ
emergency əmˈɜɹʤənsi|emoji imˈOʤi|emotion əmˈOʃən|emotional əmˈOʃənᵊl|emotionally əmˈOʃənəli
encounter ɪnkˈWntəɹ|endurance ɪndˈʊɹəns|engineer ˌɛnʤənˈɪɹ|enter ˈɛntəɹ|entire ɪntˈIəɹ
entirely ɪntˈIəɹli|espresso ɛspɹˈɛsO|euro jˈʊɹO|evening ˈivnɪŋ|expert ˈɛkspˌɜɹt|exploit ɪksplˈYt
fifteen fˌɪftˈin|focus fˈOkəs|forbidden fəɹbˈɪdᵊn|forecast fˈɔɹkˌæst|fourteen fˌɔɹtˈin
fourteenth fˌɔɹtˈinθ|frontier fɹʌntˈɪɹ|gentlemen ʤˈɛntᵊlmən|genuine ʤˈɛnjuən|genuinely ʤˈɛnjuənli
gigahertz ɡˈɪɡəhˌɜɹts|going ɡˈOɪŋ|government ɡˈʌvəɹnmənt|guarantee ɡˌɛɹəntˈi|gui ɡˈui|hang hˈæŋ
headache hˈɛdˌAk|hero hˈɪɹO|hertz hˈɜɹts|highlight hˈIlˌIt|homemade hˌOmmˈAd|honestly ˈɑnəstli
houston hjˈustən|hundred hˈʌndɹəd|impress ɪmpɹˈɛs|increasingly ɪnkɹˈisɪŋli|inequality ˌɪnɪkwˈɑləTi
infrastructure ˈɪnfɹəstɹˌʌkʧəɹ|instagram ˈɪnstəɡɹˌæm|intel ˈɪntˌɛl|internal ɪntˈɜɹnᵊl
internally ɪntˈɜɹnəli|international ˌɪntəɹnˈæʃənᵊl|internationally ˌɪntəɹnˈæʃənəli
interpret ɪntˈɜɹpɹət|invention ɪnvˈɛnʃən|inventory ˈɪnvəntˌɔɹi|investment ɪnvˈɛstmənt|ios ˌIˌOˈɛs
iso ˈIsˌO|israel ˈɪzɹiəl|iterate ˈɪTəɹˌAt|jpeg ʤˈApˌɛɡ|json ʤˈAsən|kansas kˈænzəs|kentucky kəntˈʌki|kept kˈɛpt
kilobyte kˈɪləbˌIt|kilometer kəlˈɑməTəɹ|knives nˈIvz|kubernetes kˌubəɹnˈɛTiz|landscape lˈændskˌAp
language lˈæŋɡwɪʤ|lead lˈid|listen lˈɪsᵊn|liter lˈiTəɹ|locate lˈOkˌAt|logistics ləʤˈɪstɪks
macos mˌækˌOˈɛs|maintain mAntˈAn|massachusetts mˌæsəʧˈusəts|megahertz mˈɛɡəhˌɜɹts|mentor mˈɛntˌɔɹ
meta mˈɛTə|metadata mˈɛTədˌATə|mic mˈIk|microsoft mˈIkɹəsˌɔft|mostly mˈOstli|movie mˈuvi
museum mjuzˈiəm|mysql mˌIˌɛskjˌuˈɛl|naked nˈAkɪd|navigation nˌævəɡˈAʃən|nearby nˌɪɹbˈI
neither nˈiðəɹ|neural nˈʊɹᵊl|next nˈɛkst|nginx ˌɛnʤənˈɛks|nicholas nˈɪkələs|nineteen nˌIntˈin
nineteenth nˌIntˈinθ|nvidia ɛnvˈɪdiə|oauth ˈOˌɔθ|offline ˌɔflˈIn|ok ˌOkˈA|online ˌɔnlˈIn
openai ˌOpənˌAˈI|organise ˈɔɹɡənˌIz|orientation ˌɔɹiəntˈAʃən|ourselves Wəɹsˈɛlvz|outdoor ˌWtdˈɔɹ
outdoors ˌWtdˈɔɹz|outside ˌWtsˈId|parentheses pəɹˈɛnθəsˌiz|particular pəɹtˈɪkjələɹ
particularly pəɹtˈɪkjələɹli|paypal pˈApˌæl|percentage pəɹsˈɛntɪʤ|perfectly pˈɜɹfəktli
perhaps pəɹhˈæps|piano piˈænO|playground plˈAɡɹˌWnd|png pˌiˌɛnʤˈi|poor pˈʊɹ|postgres pˈOstɡɹˌɛs
postgresql pˈOstɡɹˌɛskjˌuˈɛl|process pɹˈɑsˌɛs|productivity pɹˌɑdəktˈɪvəTi|quarantine kwˈɔɹəntˌin
quarter kwˈɔɹTəɹ|recall ɹikˈɔl|refugee ɹˌɛfjuʤˈi|regex ɹˈɛʤˌɛks|regular ɹˈɛɡjələɹ
remind ɹimˈInd|representative ɹˌɛpɹəzˈɛntəTɪv|research ɹˈisˌɜɹʧ|researcher ɹˈisˌɜɹʧəɹ|resign ɹəzˈIn
resort ɹəzˈɔɹt|restaurant ɹˈɛstəɹˌɑnt|route ɹˈut|saas sˈæs|sacred sˈAkɹɪd|sandwich sˈændwɪʧ
saturday sˈæTəɹdˌA|says sˈɛz|scientific sˌIəntˈɪfɪk|series sˈɪɹiz|seven sˈɛvᵊn|seventeen sˌɛvᵊntˈin
seventeenth sˌɛvᵊntˈinθ|seventieth sˈɛvᵊntiəθ|shanghai ʃˌæŋhˈI|shoe ʃˈu|sixteen sˌɪkstˈin
sixteenth sˌɪkstˈinθ|skiing skˈiɪŋ|software sˈɔftwˌɛɹ|sometimes sˈʌmtˌImz|soundtrack sˈWndtɹˌæk
species spˈiʃiz|spontaneous spɑntˈAniəs|sqlite ˌɛskjˌuˈɛllˌIt|statistics stətˈɪstɪks
straightforward stɹˌAtfˈɔɹwəɹd|stronger stɹˈɔŋɡəɹ|suggest səɡʤˈɛst|suggestion səɡʤˈɛsʧən|suit sˈut
surprise səɹpɹˈIz|surprisingly səɹpɹˈIzɪŋli|taiwan tˌIwˈɑn|template tˈɛmplət|terabyte tˈɛɹəbˌIt
things θˈɪŋz|thirteen θˌɜɹtˈin|thirteenth θˌɜɹtˈinθ|thirty θˈɜɹTi|thomas tˈɑməs|thousand θˈWzᵊnd
threshold θɹˈɛʃhˌOld|toe tˈO|tomato təmˈATO|tomorrow təmˈɑɹO|transform tɹænsfˈɔɹm
twentieth twˈɛntiəθ|typescript tˈIpskɹˌɪpt|ubuntu ubˈuntu|underscore ˈʌndəɹskˌɔɹ|unused ʌnjˈuzd
unusual ʌnjˈuʒuəl|upset ˌʌpsˈɛt|url jˌuˌɑɹˈɛl|usually jˈuʒuəli|valuable vˈæljuəbᵊl|vegan vˈiɡən
vehicle vˈiəkᵊl|volunteer vˌɑləntˈɪɹ|war wˈɔɹ|whereas wˌɛɹˈæz|wikipedia wˌɪkəpˈidiə|windy wˈɪndi
wolves wˈʊlvz|won wˈʌn|wound wˈund|wound wˈund|yaml jˈæmᵊl|yes jˈɛs|yourself jʊɹsˈɛlf
yourselves jʊɹsˈɛlvz|zero zˈɪɹO
`;

export interface FunctionWord {
  readonly weak: string;
  readonly strong: string;
}

export const functionWords: ReadonlyMap<string, FunctionWord> = new Map(
  entriesOf(small).map(([word, weak, strong = weak]) => [word, { weak, strong }]),
);

export const lexicon: ReadonlyMap<string, string> = new Map(
  entriesOf(others).map(([word, phonemes]) => [word, phonemes]),
);

function entriesOf(table: string): [word: string, phonemes: string, strong?: string][] {
  return table
    .trim()
    .split(/[|\n]/u)
    .map((entry) => {
      const [word = "", phonemes = "", strong] = entry.split(" ");
      return strong === undefined ? [word, phonemes] : [word, phonemes, strong];
    });
}
