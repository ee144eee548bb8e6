/**
 * Words the spelling rules of phonemize get wrong, and names it does not know, in Kokoro's phonemes.
 * An entry also serves the word's plural, past and -ing forms (pronounce.ts).
 */
const everyday = `
above əbˈʌv|abuse əbjˈuz|accidentally ˌæksədˈɛntəli|actual ˈækʧuəl|actually ˈækʧuəli|address ədɹˈɛs
adequate ˈædəkwət|adjust əʤˈʌst|adult ədˈʌlt|advice ədvˈIs|again əɡˈɛn|against əɡˈɛnst|aged ˈAʤd
almost ˈɔlmˌOst|alongside əlˌɔŋsˈId|already ɔlɹˈɛdi|although ˌɔlðˈO|always ˈɔlwˌAz|angle ˈæŋɡᵊl
announce ənˈWns|answer ˈænsəɹ|anterior æntˈɪɹiəɹ|anticipate æntˈɪsəpˌAt|anxious ˈæŋkʃəs|anybody ˈɛnibˌɑdi
appropriate əpɹˈOpɹiət|august ˈɔɡəst|aunt ˈænt|authentic ɔθˈɛntɪk|avocado ˌævəkˈɑdO|backup bˈækˌʌp
because bəkˈʌz|begun bəɡˈʌn|beloved bəlˈʌvɪd|beyond biˈɑnd|bias bˈIəs|brexit bɹˈɛksɪt|bus bˈʌs
calm kˈɑm|campus kˈæmpəs|canvas kˈænvəs|cannot kˈænˌɑt|caramel kˈɛɹəmᵊl|catch kˈæʧ|chaos kˈAˌɑs
christmas kɹˈɪsməs|circulation sˌɜɹkjəlˈAʃən|city sˈɪTi|clothes klˈOz|coconut kˈOkənˌʌt|combine kəmbˈIn
concentrate kˈɑnsəntɹˌAt|consider kənsˈɪdəɹ|continuation kəntˌɪnjuˈAʃən|convention kənvˈɛnʃən
conventional kənvˈɛnʃənᵊl|convert kənvˈɜɹt|cookie kˈʊki|cooperate kOˈɑpəɹˌAt|cooperation kOˌɑpəɹˈAʃən
corps kˈɔɹ|create kɹiˈAt|cucumber kjˈukˌʌmbəɹ|current kˈɜɹənt|data dˈATə|debut dAbjˈu|deliver dəlˈɪvəɹ
detail dˈitˌAl|determination dətˌɜɹmənˈAʃən|diabetes dˌIəbˈiTiz|diesel dˈizᵊl|direct dəɹˈɛkt
direction dəɹˈɛkʃən|director dəɹˈɛktəɹ|directory dəɹˈɛktəɹi|directly dəɹˈɛktli|does dˈʌz
documentary dˌɑkjəmˈɛntəɹi|dollar dˈɑləɹ|dose dˈOs|during dˈʊɹɪŋ|effective əfˈɛktɪv|effectively əfˈɛktɪvli
effectiveness əfˈɛktɪvnəs|either ˈiðəɹ|eleven əlˈɛvᵊn|eleventh əlˈɛvᵊnθ|elite əlˈit|email ˈimˌAl
emerge əmˈɜɹʤ|emergency əmˈɜɹʤənsi|emotion əmˈOʃən|emotional əmˈOʃənᵊl|emotionally əmˈOʃənəli
employee ɛmplˈYi|encounter ɪnkˈWntəɹ|engineer ˌɛnʤənˈɪɹ|entire ɪntˈIəɹ|entirely ɪntˈIəɹli|enter ˈɛntəɹ
environment ɪnvˈIɹənmənt|environmental ɪnvˌIɹənmˈɛntᵊl|evening ˈivnɪŋ|eventually əvˈɛnʧuəli
everybody ˈɛvɹibˌɑdi|everyone ˈɛvɹiwˌʌn|excess ˈɛksˌɛs|expert ˈɛkspˌɜɹt|eye ˈI
flavour flˈAvəɹ|focus fˈOkəs|follow fˈɑlO|forbidden fəɹbˈɪdᵊn|formidable fˈɔɹmədəbᵊl
forte fˈɔɹtˌA|function fˈʌŋkʃən|fundamental fˌʌndəmˈɛntᵊl|fundamentally fˌʌndəmˈɛntəli|gas ɡˈæs
gentlemen ʤˈɛntᵊlmən|genuine ʤˈɛnjuən|genuinely ʤˈɛnjuənli|gigantic ʤIɡˈæntɪk|give ɡˈɪv|gonna ɡˈʌnə
government ɡˈʌvəɹnmənt|grandfather ɡɹˈændfˌɑðəɹ|graph ɡɹˈæf|guarantee ɡˌɛɹəntˈi|half hˈæf|hang hˈæŋ
headquarters hˈɛdkwˌɔɹTəɹz|hello həlˈO|hero hˈɪɹO|highlight hˈIlˌIt|homemade hˌOmmˈAd|hour ˈWəɹ
hurricane hˈɜɹəkˌAn|illegal ɪlˈiɡᵊl|impulse ˈɪmpˌʌls|inequality ˌɪnɪkwˈɑləTi|increasingly ɪnkɹˈisɪŋli
infrastructure ˈɪnfɹəstɹˌʌkʧəɹ|inquiry ɪnkwˈIɹi|install ɪnstˈɔl|instrumental ˌɪnstɹəmˈɛntᵊl
internal ɪntˈɜɹnᵊl|internally ɪntˈɜɹnəli|international ˌɪntəɹnˈæʃənᵊl|internationally ˌɪntəɹnˈæʃənəli
invention ɪnvˈɛnʃən|inventory ˈɪnvəntˌɔɹi|inverse ˈɪnvˌɜɹs|invite ɪnvˈIt|issue ˈɪʃu|jewelry ʤˈulɹi
july ʤulˈI|keep kˈip|kept kˈɛpt|kilometer kəlˈɑməTəɹ|kind kˈInd|kinda kˈIndə|knife nˈIf|knives nˈIvz
landscape lˈændskˌAp|language lˈæŋɡwɪʤ|length lˈɛŋkθ|lens lˈɛnz|lieu lˈu|listen lˈɪsᵊn|lives lˈIvz
local lˈOkᵊl|locate lˈOkˌAt|logistics ləʤˈɪstɪks|maintain mAntˈAn|mankind mˌænkˈInd|manual mˈænjuəl
massage məsˈɑʒ|mature məʧˈʊɹ|meant mˈɛnt|mental mˈɛntᵊl|mentality mɛntˈæləTi|mention mˈɛnʃən|mentor mˈɛntˌɔɹ
meter mˈiTəɹ|mic mˈIk|microwave mˈIkɹəwˌAv|minority mənˈɔɹəTi|minus mˈInəs|moon mˈun|mostly mˈOstli
movie mˈuvi|museum mjuzˈiəm|naive nIˈiv|naked nˈAkɪd|navigation nˌævəɡˈAʃən|nearby nˌɪɹbˈI|neither nˈiðəɹ
network nˈɛtwˌɜɹk|neural nˈʊɹᵊl|news nˈuz|next nˈɛkst|ninety nˈInti|nothing nˈʌθɪŋ|octopus ˈɑktəpˌʊs
offline ˌɔflˈIn|oftentimes ˈɔfᵊntˌImz|okay ˌOkˈA|online ˌɔnlˈIn|orientation ˌɔɹiəntˈAʃən|ourselves Wəɹsˈɛlvz
outdoor ˌWtdˈɔɹ|outdoors ˌWtdˈɔɹz|outside ˌWtsˈId|particular pəɹtˈɪkjələɹ|particularly pəɹtˈɪkjələɹli
path pˈæθ|penalize pˈinəlˌIz|percentage pəɹsˈɛntɪʤ|perhaps pəɹhˈæps|piano piˈænO|pie pˈI|poor pˈʊɹ
poorly pˈʊɹli|premiere pɹəmˈɪɹ|product pɹˈɑdəkt|productivity pɹˌɑdəktˈɪvəTi|profound pɹəfˈWnd
project pɹˈɑʤˌɛkt|pumpkin pˈʌmpkɪn|quarantine kwˈɔɹəntˌin|question kwˈɛsʧən|recall ɹikˈɔl|refugee ɹˌɛfjuʤˈi
regular ɹˈɛɡjələɹ|relax ɹɪlˈæks|remind ɹimˈInd|representative ɹˌɛpɹəzˈɛntəTɪv|research ɹˈisˌɜɹʧ
researcher ɹˈisˌɜɹʧəɹ|reservoir ɹˈɛzəɹvwˌɑɹ|reset ɹisˈɛt|resign ɹəzˈIn|resort ɹəzˈɔɹt|restaurant ɹˈɛstəɹˌɑnt
romance ɹOmˈæns|route ɹˈut|rugged ɹˈʌɡɪd|sacred sˈAkɹɪd|said sˈɛd|sandwich sˈændwɪʧ|saturday sˈæTəɹdˌA
says sˈɛz|scientific sˌIəntˈɪfɪk|see sˈi|series sˈɪɹiz|setup sˈɛTˌʌp|shoe ʃˈu|silicon sˈɪləkˌɑn
sky skˈI|software sˈɔftwˌɛɹ|solely sˈOlli|somebody sˈʌmbˌɑdi|sometimes sˈʌmtˌImz
somewhat sˈʌmwˌʌt|soundtrack sˈWndtɹˌæk|specialty spˈɛʃᵊlti|species spˈiʃiz|spiritual spˈɪɹɪʧuəl
startup stˈɑɹTˌʌp|statistics stətˈɪstɪks|status stˈæTəs|straightforward stɹˌAtfˈɔɹwəɹd|stronger stɹˈɔŋɡəɹ
strongest stɹˈɔŋɡəst|longer lˈɔŋɡəɹ|longest lˈɔŋɡəst|younger jˈʌŋɡəɹ|youngest jˈʌŋɡəst|suggest səɡʤˈɛst
suggestion səɡʤˈɛsʧən|suit sˈut|superhero sˈupəɹhˌɪɹO|surprise səɹpɹˈIz|surprisingly səɹpɹˈIzɪŋli
syrup sˈɪɹəp|talent tˈælənt|template tˈɛmplət|theorem θˈiəɹəm|theory θˈiəɹi|therapy θˈɛɹəpi|thereby ðˌɛɹbˈI
thing θˈɪŋ|things θˈɪŋz|thirty θˈɜɹTi|thoroughly θˈɜɹOli|thousand θˈWzᵊnd|threshold θɹˈɛʃhˌOld|tissue tˈɪʃu
toe tˈO|tomato təmˈATO|touch tˈʌʧ|travel tɹˈævᵊl|tree tɹˈi|twelfth twˈɛlfθ|umbrella ʌmbɹˈɛlə
universe jˈunəvˌɜɹs|unite junˈIt|until əntˈɪl|upcoming ˈʌpkˌʌmɪŋ|upset ˌʌpsˈɛt|usually jˈuʒuəli|unusual ʌnjˈuʒuəl
vegan vˈiɡən|vehicle vˈiəkᵊl|veggie vˈɛʤi|virus vˈIɹəs|volunteer vˌɑləntˈɪɹ|want wˈɑnt|war wˈɔɹ|webinar wˈɛbənˌɑɹ
whatever wˌʌTˈɛvəɹ|whenever wˌɛnˈɛvəɹ|whereas wˌɛɹˈæz|wicked wˈɪkɪd|won wˈʌn|worthwhile wˌɜɹθwˈIl|yeah jˈæ
yes jˈɛs|yourself jʊɹsˈɛlf|yourselves jʊɹsˈɛlvz|zombie zˈɑmbi|calorie kˈæləɹi|selfie sˈɛlfi|use jˈuz|used jˈuzd
close klˈOs|read ɹˈid|lead lˈid|tear tˈɪɹ|object ˈɑbʤɛkt|bow bˈO|content kˈɑntˌɛnt|excuse ɪkskjˈuz|wound wˈund
schedule skˈɛʤˌul|process pɹˈɑsˌɛs|progress pɹˈɑɡɹˌɛs|archive ˈɑɹkˌIv|cache kˈæʃ|ache ˈAk|aching ˈAkɪŋ|headache hˈɛdˌAk|analyses ənˈæləsˌiz|antarctica æntˈɑɹktɪkə|anthem ˈænθəm|antique æntˈik
athens ˈæθənz|atlas ˈætləs|authenticity ˌɔθɛntˈɪsəTi|bezel bˈɛzᵊl|collagen kˈɑləʤən|coupon kˈupˌɑn|coworker kˈOwˌɜɹkəɹ
crises kɹˈIsˌiz|curling kˈɜɹlɪŋ|cybersecurity sˌIbəɹsəkjˈʊɹəTi|dopamine dˈOpəmˌin|endurance ɪndˈʊɹəns|entirety ɪntˈIɹəTi
espresso ɛspɹˈɛsO|forecast fˈɔɹkˌæst|fracture fɹˈækʧəɹ|frontier fɹʌntˈɪɹ|hughes hjˈuz|indices ˈɪndəsˌiz
insignificant ˌɪnsəɡnˈɪfəkənt|interpret ɪntˈɜɹpɹət|iterate ˈɪTəɹˌAt|lemonade lˌɛmənˈAd|milan məlˈɑn|montage mɑntˈɑʒ
mozzarella mˌɑtsəɹˈɛlə|organise ˈɔɹɡənˌIz|outgoing ˈWtɡˌOɪŋ|override ˌOvəɹɹˈId|parentheses pəɹˈɛnθəsˌiz|positivity pˌɑzətˈɪvəTi
relatable ɹəlˈATəbᵊl|segue sˈɛɡwˌA|skiing skˈiɪŋ|spontaneous spɑntˈAniəs|unused ʌnjˈuzd|windy wˈɪndi|wolves wˈʊlvz
paste pˈAst|taste tˈAst|waste wˈAst
develop dəvˈɛləp|developed dəvˈɛləpt|developing dəvˈɛləpɪŋ|developer dəvˈɛləpəɹ|going ɡˈOɪŋ|financial fInˈænʃᵊl
investment ɪnvˈɛstmənt|honestly ˈɑnəstli|perfectly pˈɜɹfəktli|exactly ɪɡzˈæktli|liter lˈiTəɹ|euro jˈʊɹO
unless ʌnlˈɛs|valuable vˈæljuəbᵊl|situation sˌɪʧuˈAʃən|whoa wˈO|creme kɹˈɛm|brulee bɹulˈA|cafe kæfˈA|jose hOzˈA|lose lˈuz|choose ʧˈuz|move mˈuv|prove pɹˈuv
`;

const numbers = `
zero zˈɪɹO|seven sˈɛvᵊn|seventh sˈɛvᵊnθ|thirteen θˌɜɹtˈin|fourteen fˌɔɹtˈin|fifteen fˌɪftˈin|sixteen sˌɪkstˈin|seventeen sˌɛvᵊntˈin
eighteen ˌAtˈin|nineteen nˌIntˈin|thirteenth θˌɜɹtˈinθ|fourteenth fˌɔɹtˈinθ|fifteenth fˌɪftˈinθ|sixteenth sˌɪkstˈinθ
seventeenth sˌɛvᵊntˈinθ|eighteenth ˌAtˈinθ|nineteenth nˌIntˈinθ|twentieth twˈɛntiəθ|thirtieth θˈɜɹTiəθ|fortieth fˈɔɹTiəθ
fiftieth fˈɪftiəθ|sixtieth sˈɪkstiəθ|seventieth sˈɛvᵊntiəθ|eightieth ˈATiəθ|ninetieth nˈIntiəθ|seventy sˈɛvᵊnti
hundred hˈʌndɹəd|hundredth hˈʌndɹədθ|million mˈɪljən|millionth mˈɪljənθ|eighth ˈAtθ|quarter kwˈɔɹTəɹ|underscore ˈʌndəɹskˌɔɹ
hertz hˈɜɹts|kilohertz kˈɪləhˌɜɹts|megahertz mˈɛɡəhˌɜɹts|gigahertz ɡˈɪɡəhˌɜɹts|kilobyte kˈɪləbˌIt|terabyte tˈɛɹəbˌIt|petabyte pˈɛTəbˌIt
probably pɹˈɑbəbli|tomorrow təmˈɑɹO|message mˈɛsɪʤ|infinity ɪnfˈɪnəTi|incorporated ɪnkˈɔɹpəɹˌATᵻd|twenty twˈɛnti
`;

const names = `
api ˌApˌiˈI|ajax ˈAʤˌæks|alibaba ˌɑlibˈɑbə|amazon ˈæməzˌɑn|angeles ˈænʤələs|argentina ˌɑɹʤəntˈinə
arkansas ˈɑɹkənsˌɔ|async ˈAsˌɪŋk|azure ˈæʒəɹ|beijing bˌAʤˈɪŋ|chatgpt ʧˌætʤˌipˌitˈi|chrome kɹˈOm
colorado kˌɑləɹˈɑdO|dallas dˈæləs|debian dˈɛbiən|deepmind dˈipmˌInd|detroit dətɹˈYt|django ʤˈæŋɡO
docker dˈɑkəɹ|elon ˈilˌɑn|gemini ʤˈɛmənˌI|github ɡˈɪthˌʌb|gmail ʤˈimˌAl|google ɡˈuɡᵊl|hawaii həwˈIi
houston hjˈustən|instagram ˈɪnstəɡɹˌæm|intel ˈɪntˌɛl|ios ˌIˌOˈɛs|iphone ˈIfˌOn|ipad ˈIpˌæd|iran ɪɹˈɑn
iraq ɪɹˈɑk|israel ˈɪzɹiəl|javascript ʤˈɑvəskɹˌɪpt|joseph ʤˈOsəf|jpeg ʤˈApˌɛɡ|json ʤˈAsən|kansas kˈænzəs
kentucky kəntˈʌki|kubernetes kˌubəɹnˈɛTiz|linux lˈɪnəks|lucas lˈukəs|macos mˌækˌOˈɛs|massachusetts mˌæsəʧˈusəts
mercedes məɹsˈAdiz|meta mˈɛTə|metadata mˈɛTədˌATə|microsoft mˈIkɹəsˌɔft|montana mɑntˈænə|moscow mˈɑskˌW
mysql mˌIˌɛskjˌuˈɛl|nato nˈATˌO|nasa nˈæsə|nginx ˌɛnʤənˈɛks|nicholas nˈɪkələs|nvidia ɛnvˈɪdiə|oauth ˈOˌɔθ
olympic əlˈɪmpɪk|olympics əlˈɪmpɪks|ontario ɑntˈɛɹiO|openai ˌOpənˌAˈI|opec ˈOpˌɛk|orleans ˈɔɹlinz
paypal pˈApˌæl|photoshop fˈOTOʃˌɑp|playground plˈAɡɹˌWnd|png pˌiˌɛnʤˈi|postgres pˈOstɡɹˌɛs
postgresql pˈOstɡɹˌɛskjˌuˈɛl|python pˈIθˌɑn|regex ɹˈɛʤˌɛks|reddit ɹˈɛdɪt|saudi sˈWdi|shanghai ʃˌæŋhˈI
spotify spˈɑTəfˌI|sqlite ˌɛskjˌuˈɛllˌIt|taiwan tˌIwˈɑn|texas tˈɛksəs|thomas tˈɑməs|tokyo tˈOkiˌO
typescript tˈIpskɹˌɪpt|ubuntu ubˈuntu|unesco junˈɛskO|unicef jˈunəsˌɛf|vegas vˈAɡəs|wifi wˈIfˌI
wikipedia wˌɪkəpˈidiə|xbox ˈɛksbˌɑks|yaml jˈæmᵊl|youtube jˈutˌub|zoom zˈum|ascii ˈæski|gif ɡˈɪf|jalapeno hˌɑləpˈAnjO
asean ˈɑsiˌɑn|awol ˈAwˌɔl|bios bˈIˌOs|boeing bˈOɪŋ|captcha kˈæpʧə|cobol kˈObˌɔl|covid kˈOvɪd|crispr kɹˈɪspəɹ|cuda kˈudə
defcon dˈɛfkˌɑn|eprom ˈipɹˌɑm|fema fˈimə|fifa fˈifə|fifo fˈIfˌO|fomo fˈOmˌO|gnu ɡnˈu|gui ɡˈui|hipaa hˈɪpə|ikea Ikˈiə
imax ˈImˌæks|iso ˈIsˌO|lidar lˈIdˌɑɹ|midi mˈɪdi|nasdaq nˈæzdˌæk|noaa nˈOə|norad nˈɔɹˌæd|osha ˈOʃə|peta pˈiTə|saas sˈæs
sars sˈɑɹz|scsi skˈʌzi|toml tˈɑmᵊl|yolo jˈOlO|ok ˌOkˈA|lan lˈæn|wan wˈæn|dos dˈɔs
emoji imˈOʤi|kokoro kˈOkəɹO|blog blˈɑɡ|app ˈæp|apps ˈæps|wi wˈI|fi fˈI|http ˌAʧtˌitˌipˈi|url jˌuˌɑɹˈɛl|llama lˈɑmə
`;

export const lexicon: ReadonlyMap<string, string> = new Map(
  `${everyday}|${numbers}|${names}`
    .split(/[|\n]/u)
    .filter((entry) => entry !== "")
    .map((entry) => {
      const space = entry.indexOf(" ");
      return [entry.slice(0, space), entry.slice(space + 1)] as const;
    }),
);
