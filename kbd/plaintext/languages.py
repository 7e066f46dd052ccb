"""Languages as their words: what the letters of each look like beside each other.

Names of people and places and everyday words, chosen for letters beyond ASCII: those alone tell
encodings apart. `letters` are all that a language writes beyond ASCII; what is not among them is
foreign to it.
"""

import msgspec

__all__ = ["LANGUAGES", "Language"]


class Language(msgspec.Struct, frozen=True):
    """A language, by its letters beyond ASCII in lower case, and words of it between blanks."""

    name: str
    letters: str
    words: str


LANGUAGES = (
    Language(
        "English",
        "éèêëïöüñçà",
        "the of and to in is it its that was for on are as with his they at be this have from or "
        "had by but not what all were we when your can said there use each which she do how "
        "their if will up other about out many then them these so some her would make like him "
        "into time has look two more write see no way could people my than first been call who "
        "now find long down day did get come made may part don t s ll ve re d m isn doesn o name "
        "city amount price total date order customer note number street house company january "
        "market service john mary smith brown wilson café résumé naïve cliché fiancée façade "
        "señor über zoë chloë jalapeño à déjà née crème entrée",
    ),
    Language(
        "French",
        "àâæçèéêëîïôùûüÿœ",
        "à été où déjà très après être même père mère frère élève école hôtel hôpital forêt tête "
        "fenêtre français française garçon leçon façade façon ça reçu noël naïf maïs haïti cœur "
        "sœur œuvre bœuf août goût coût sûr île âge château gâteau théâtre pâques côte bientôt "
        "plutôt diplôme désolé réseau société qualité quantité numéro prénom téléphone référence "
        "libellé débit crédit créé généré année février décembre marché région département "
        "hélène éric andré rené stéphane céline cécile amélie aurélie émilie zoé chloé léa rémi "
        "jérôme frédéric gérard sébastien françois benoît thérèse geneviève agnès irène michèle "
        "mathéo désiré besançon orléans sète béziers nîmes saint-étienne châteauroux évreux "
        "élisabeth légère dernière première manière matière entière rivière règle siècle modèle "
        "système problème crème chèque évêque bibliothèque kilomètre prêt fête bête intérêt "
        "conquête arrêt hélas là voilà delà naître paraître août brûler dû ambiguë israël joël "
        "lefèvre lemaître bérénice geoffroy pécresse mélenchon dupré hébert bénard gaëlle maël "
        "bâtiment pâte tâche hâte entrepôt contrôle rôle dépôt trésorerie échéance intitulé "
        "aliénor célestin clément édith eugène félix gisèle hélie jérémie léonard mathée noëlla "
        "odéon rachèle séverine théo valéry zélie béthune châlons clélie crécy dégât épée fléau "
        "grève héros île-de-france légende mélange nègre opéra péché québec récif séjour ténor "
        "vélo loïs moïse héloïse aïeul caraïbes",
    ),
    Language(
        "German",
        "äöüß",
        "für über können müssen möchten würde wäre hätte größe groß straße weiß heiß fuß gruß "
        "grüße schön böse hören höhe öl öffnen österreich übung früher grün müde tür küche "
        "bücher häuser bäume mädchen väter mütter töchter söhne ärzte ähnlich käse märz jährlich "
        "länge länder stück zurück glück brücke lücke fünf zwölf dreißig außer draußen schließen "
        "maß spaß müller schröder schäfer köhler krüger jäger böhm schütz vögel günther jürgen "
        "jörg björn käthe bärbel götz löwe könig kühn lübeck köln münchen nürnberg düsseldorf "
        "würzburg göttingen tübingen zürich gießen meißen thüringen württemberg saarbrücken "
        "lüneburg weißenburg prüfung rückgabe gebühr währung verfügbar gültig ungültig menü büro "
        "geschäft geschäftsführer beträge erträge verträge anträge käufer verkäufer händler "
        "schlüssel kündigung lösung größer höchste nächste später täglich ausländer ändern "
        "geändert erklärt gehören stören vermögen möbel körper wörter löschen bräuer grünwald "
        "heß rößler weiß hänsel bäcker fröhlich süß blüte gemüse mühle hübner gärtner wäsche "
        "qualität universität ägypten bärenz blöcker brühl dörfler düren frühling gößmann hägele "
        "jülich kämmerer läßt mörike nägele plötz röntgen sträter tränkner übel völker wächter "
        "zöllner",
    ),
    Language(
        "Spanish",
        "áéíñóúü¿¡ºª",
        "peña muñoz núñez ibáñez ordóñez españa español señor señora señorita niño niña año años "
        "mañana montaña compañía pequeño pequeña sueño baño otoño enseñar diseño cañada cabañas "
        "logroño coruña quiñones briones zúñiga patiño treviño garcía martínez lópez sánchez "
        "pérez gómez fernández gonzález rodríguez hernández jiménez díaz álvarez ramírez "
        "gutiérrez domínguez vázquez suárez márquez méndez velázquez josé maría jesús andrés "
        "ángel inés lucía sofía raúl martín víctor óscar héctor mónica verónica bárbara iván "
        "adrián sebastián joaquín ramón fermín agustín belén concepción asunción málaga córdoba "
        "cádiz león jaén almería mérida cáceres ávila gijón bogotá medellín méxico perú panamá "
        "asunción mahón también más sí él qué cómo cuándo dónde está están será número teléfono "
        "dirección razón nación población región opción información acción producción "
        "descripción categoría línea página código público económico técnico último fácil "
        "difícil útil árbol papá mamá café día días país policía energía título artículo "
        "vehículo cigüeña bilingüe pingüino lingüística güemes dañado ciudadanía antigüedad "
        "rubén begoña íñigo toño núria zaragoçá peñíscola cabañero añejo caña cuñado dueño "
        "engaño extraño huraño leñador niñez ordeño puño rebaño riñón señal tiñe uña viñedo "
        "baños ibañez iñigo acuña ballesteros-ñíguez",
    ),
    Language(
        "Italian",
        "àèéìîòù",
        "è perché più già così però può sarà città qualità quantità università società attività "
        "libertà verità età metà novità possibilità lunedì martedì mercoledì giovedì venerdì "
        "virtù gioventù tribù caffè tè sé né cioè giù su là lì qui dirà farà andò parlò cantò "
        "nicolò niccolò forlì canicattì cefalù cantù dalmà mondovì santhià patanè calì rosà "
        "identità località proprietà perciò menù papà falò comò oblò purché finché benché",
    ),
    Language(
        "Portuguese",
        "àáâãçéêíóôõúüºª",
        "são não então pão mão irmão irmã amanhã maçã manhã lã coração informação ação nação "
        "produção região população descrição situação educação opção ções ações opções razões "
        "joão sebastião simão cristóvão adão damião guimarães magalhães simões camões mães "
        "alemães pães cães conceição assunção gonçalves gonçalo lourenço mendonça bragança "
        "França preço serviço espaço início história memória prática básico público número "
        "código página você três português inglês mês francês êxito avó avô metrô pôr câmara "
        "distância importância ciência agência experiência antônio antónio josé inês luís andré "
        "márcia cláudia patrícia fábio sérgio mário márcio vitória flávio júlio lúcia araújo "
        "brandão falcão leitão calçada évora setúbal viseu covilhã guimarães brasília goiânia "
        "paraná ceará maranhão pará amapá vitória maceió belém água área até já também há está "
        "será à às àquele saúde país família endereço cartão questão versão gestão divisão "
        "padrão abraão alvarães bulhões cabeção capitão carvão cidadão esperança força graças "
        "inês invenção jardinzão lições mação nogueirão órfão pavão quinhão romã sertão tração "
        "união verão",
    ),
    Language(
        "Dutch",
        "áäèéêëïóöü",
        "één financiële officiële efficiënt patiënt cliënt ingrediënten italië belgië australië "
        "spanje's oekraïne geïnteresseerd geïnstalleerd egoïst coördinatie coöperatie reünie "
        "beëindigd geüpdatet ideeën zeeën tweeën drieëntwintig categorieën daniël michaël "
        "raphaël joëlle zoë chloë noël andré renée rené hélène coëfficiënt vóór hè scène "
        "carrière café privé industrieën ruïne naïef mozaïek reëel ideële creëren variëren "
        "theorieën",
    ),
    Language(
        "Swedish",
        "åäéöüà",
        "för är på från även också så då när där här många några år två fyra åtta län område väg "
        "vägen gatan hög högre större bättre människa människor värld världen året även både få "
        "får måste månad måndag lördag söndag åker åsa åke håkan mårten göran björn sören jörgen "
        "östen örjan pär kjell-åke märta kerstin-märta västerås malmö göteborg jönköping örebro "
        "linköping norrköping östersund växjö umeå luleå piteå skellefteå skåne småland öland "
        "gävle södertälje åström öberg sjöberg sjöström lindström bergström söderberg hägg "
        "åkesson håkansson mårtensson söderström ångström nyström engström köping hälsa "
        "försäljning företag återförsäljare förnamn köpare säljare återköp belopp årlig ändrad "
        "lösenord rätt båt skärgård trädgård gård gården sjögren löfgren lövgren ström å ö idé "
        "armén mjölby björkö strumpor strömstad sköld ljungå lindå ahlström dahlgård wåhlin "
        "ståhl åhman ågren märit pålsson råå ålund älvsborg ängby ärlig äldre källa kväll "
        "mjölnare skjöld sjö själ kött tröst bröder höst lösning köksö byxår",
    ),
    Language(
        "Danish",
        "åæéøöü",
        "på så når også må får år måned måske både blå gå stå århus ålborg aarhus ærø sønderborg "
        "helsingør køge næstved nørrebro østerbro frederikshavn lærer læse være værdi køber "
        "sælger køkken brød sød grøn høj høje større størst første også hjælp hjælpe kærlighed "
        "sørensen jørgensen nørgaard østergaard kjær kjærgaard bæk holbæk møller mølle søren "
        "jørgen bjørn åse ågård ægte æble æg øl ø ønske øst forår sjælland fyn dør gør før tør "
        "måde råd fløde smørrebrød købmand køb beløb løn ændring oprettelsesår nævnt præcis træ "
        "vær bjørnholm skjern-å thøger bøgh frøslev grønlund højer kjøbenhavn kongshøj lærke "
        "mærsk nørre præst rømø sæby tårnby vårst åbenrå ørsted ølgod jægersborg krøyer",
    ),
    Language(
        "Norwegian",
        "åæøéèêòóôäöü",
        "på så når også må får år måned både blå gå stå ålesund tromsø bodø hønefoss ås åsgård "
        "sørlandet østfold vestfold lærer være verdi kjøper selger kjøkken brød søt grønn høy "
        "større først øst ønske hjelpe kjærlighet sørensen ødegård bø bjørn bjørnar pål håkon "
        "håvard åse åge øystein øyvind jørn tønsberg trøndelag røros lillestrøm drøbak gjøvik "
        "strøm haugsbø lødingen hårek nær nærmere trær bær én allé idé gå-på møte møbel båt "
        "skjærgård løsning kjøp beløp lønn endringsår brønnøysund færder grønland solbø ødegaard "
        "bjørkås grønnås hølen jæren kråkerøy lørenskog mørk nærøy rødøy sætre tårnåsen våler "
        "ålen ørland øyer bjørndalen skjåk fjærland",
    ),
    Language(
        "Finnish",
        "äöåšž",
        "hyvää päivää tämä mitä että myös eivät älä äiti isä pöytä työ työn työntekijä käyttäjä "
        "yhtiö yhteensä määrä päivämäärä lisää vähän pitää nähdä tehdä käytössä jälkeen näyttää "
        "jyväskylä hämeenlinna mäkinen mäkelä hämäläinen järvinen heikkinen lehtimäki väisänen "
        "kähkönen pöllönen törmänen jääskeläinen väinämöinen könönen häkkinen räikkönen särkkä "
        "mänttä seinäjoki ähtäri äänekoski kärkkäinen ylläs pyhä yö hyöty löytää syödä pää jää "
        "sää väri hinta-arvio käsittely löylyä ympäristö henkilö öljy ääni ystävä kesä kevät "
        "syksyllä tärkeä sähköposti sähkö päätös esitys myyjä ostajä lähde näkö kylä",
    ),
    Language(
        "Icelandic",
        "áéíóúýðþæö",
        "það að og þú þau þeir þessi þar það við með síðan síða maður menn kona börn ég mér þér "
        "á í ísland íslenska reykjavík akureyri ísafjörður hafnarfjörður keflavík kópavogur "
        "garðabær seyðisfjörður sigurður guðmundur guðrún þór þóra þórarinn þorsteinn jón "
        "jónsson sigurðsson guðmundsdóttir jónsdóttir dóttir ólafur ólafsson ásta ásgeir björk "
        "björn kristín sólveig ragnheiður hrafnhildur æsa öxar úlfar ýmir íris elín örn ágúst "
        "október nóvember þriðjudagur fimmtudagur sæll bær hæð verð magn nafn fæðingardagur "
        "heiða þekking blað orð borð góður gott rúm tími tíma dýr dýrt nýr nýtt hús hér fé sögu",
    ),
    Language(
        "Catalan",
        "àçèéíïòóúü·",
        "més però això també català catalunya barcelona perquè què és són està serà números "
        "informació població nació producció acció opció adreça plaça força peça feliç lluís "
        "josep-lluís francesc vicenç núria mònica àngel àngels òscar ramón martí jordi agustí "
        "sòria girona lleida sabadell mataró castelló alacant valència gràcia història ciència "
        "col·legi paral·lel il·lusió cèl·lula intel·ligent raïm país veïna diürn pingüí següent "
        "llengües qüestió anglès francès interès mossèn pèrez solé roca ferrés puigdemont bofill "
        "tàpies dalí miró gaudí camí jardí demà germà mà català pà telèfon pàgina línia",
    ),
    Language(
        "Irish",
        "áéíóú",
        "é í ó sé sí tá níl agus éire éireann gaeilge dáil seán siobhán máire pádraig bríd áine "
        "róisín ciarán eoghan tomás séamus liam ó murchú súilleabháin dún laoghaire gaillimh "
        "cúige ulaidh mícheál caoimhín gráinne niamh órla úna sinéad cáit míle fáilte slán lá",
    ),
    Language(
        "Albanian",
        "ëç",
        "është në më për një të së dhe që çdo çfarë shqipëri shqipëria tiranë durrës vlorë "
        "shkodër korçë elbasan gjirokastër prishtinë pejë gjakovë tetovë përpara pëllumb shtëpi "
        "nëntor dhjetë mësues zëri ndërtesë emër mbiemër çmimi çelës vëlla motër nënë babë djalë "
        "vajzë arbër bujë kërkesë agron besë çamëria hoxhë këngë mirë këtë vërtetë vjeç çaj",
    ),
    Language(
        "Estonian",
        "äõöüšž",
        "ja või on õige õpetaja õpilane õnn õhtu õde sõna sõber võru põlva jõgeva jõhvi võsu "
        "kõik mõni nõukogu põhja lõuna kõrge jõulud töö öö mööda pärnu tõnu tõnis jüri jürgen "
        "ülle ülo küllike märt mäe mägi tamm põder käo käsi päev päike nädal tähtaeg hääl väike "
        "väga ära üks kümme üle küla süda rääma pärt peäske püha sündinud müüja müük ostja võrk "
        "šokolaad žanr garaaž sünnipäev kuupäev täht lään hõbe tõde rõõm mõtte kõne võlg järve "
        "tšehhi tšello šahh dušš borš žürii žanrid bežid garaažid",
    ),
    Language(
        "Latvian",
        "āčēģīķļņšūž",
        "un ir kā nē jā šī šis šodien latvija latviešu rīga liepāja jūrmala rēzekne jēkabpils "
        "daugavpils valmiera cēsis sigulda tukums jānis jānim pēteris andrejs mārtiņš kristīne "
        "līga ilze inese gatis ģirts ķirsis ļoti ļaudis bērziņš kalniņš ozoliņš liepiņš krūmiņš "
        "balodis eglītis zariņš pētersons jansons vītols āboliņš bērzs lūsis ūdens āda ēka īss "
        "čiekurs žurnāls žēl šķirne viņš viņa ziņa diēna diena mēnesis gadā pilsēta summa vārds "
        "uzvārds adrese tālrunis skaits preču daļa pārdošana pēc līdz māte tēvs dēls kungs "
        "ķīpsala ģimene kuģis zāle māja mājās sākums beigās četri seši astoņi deviņi",
    ),
    Language(
        "Lithuanian",
        "ąčėęįšųūž",
        "ir yra kaip už iš į ką tą šis šiandien lietuva lietuvių vilnius kaunas klaipėda "
        "šiauliai panevėžys marijampolė mažeikiai utena kėdainiai telšiai jonas jonaitis petras "
        "vytautas algirdas rūta eglė jūratė giedrė živilė žydrūnas šarūnas darius kęstutis "
        "mindaugas kazlauskas kazlauskienė petrauskaitė jankauskaitė stankevičius paulauskas "
        "žukauskas butkevičius urbonavičius šimkus čiurlionis mačiulis žemaitis ąžuolas ėjo "
        "įmonė įvykis ūkis ūkio žmogus žmonės vėl tėvas sūnus moteris vyrų metų dienų mėnuo "
        "miestas gatvė kiekis suma pavardė vardas pardavėjas pirkėjas sąskaita adresą kainą "
        "prekių mokėjimas šeši aštuoni dešimt keturiolika lygtį tęsti pradžia",
    ),
    Language(
        "Polish",
        "ąćęłńóśźż",
        "się że jest są być był była było który która łódź kraków gdańsk poznań wrocław toruń "
        "białystok częstochowa rzeszów żywiec radość źródło śląsk śnieg świat święto ćwiczenie "
        "łukasz michał paweł rafał małgorzata grażyna bożena elżbieta józef stanisław władysław "
        "bogusław mirosław wiesław jarosław wójcik kowalczyk wiśniewski dąbrowski lewandowski "
        "zieliński szymański woźniak kozłowski jabłoński wróblewski krawczyk piątek górski "
        "rutkowska michalska zając król wróbel więcej mniejszość następny pieniądze ilość "
        "wartość dzień tydzień miesiąc styczeń wrzesień październik koń koniec kwiecień słowo "
        "główna ulica mąż żona córka człowiek ludzie życie książka sprzedaż zamówienie płatność "
        "należność numer telefonu nazwisko imię miejscowość województwo piękny późno można też "
        "także bądź będzie państwo hańba tańczyć końcowy grudzień pięć dziesięć łąka żółw gęś "
        "bąk ćma dęby gąska jaźń kąpiel łoś mądry nędza owoców pchła rzeź sól tęcza użyć wąż ząb "
        "źle żółty",
    ),
    Language(
        "Czech",
        "áčďéěíňóřšťúůýž",
        "že je není více než může můj být byl byla příjmení jméno město číslo množství cena "
        "částka měsíc den týden září říjen únor květen červen červenec středa čtvrtek pátek "
        "neděle praha plzeň děčín třebíč ústí české budějovice hradec králové kroměříž přerov "
        "žďár jiří tomáš lukáš ondřej matěj vojtěch jaroslav božena kateřina lucie anežka zdeněk "
        "dvořák novák černý procházka kučera veselý horák němec pokorný pospíšil hájek růžička "
        "beneš fiala sedláček doležal kříž vaněk šťastný kolář čermák říha bláha řezníček "
        "nováková dvořáková svobodová říkat dítě děti člověk lidé dům kůň žena muž věc řeka "
        "přítel příklad těžký šest pět devět deset sto tisíc loď teď síť zeď déle více dobrý "
        "ďábel účet úvěr zákazník dodavatel výrobek prodejní platnost období skříň žízeň tříd "
        "jitřní ačkoli běžný čáp ďábelský ježek kámoš léčba mývaly nějaký oběť pštros řád šňůra "
        "tříska úžas vůně zážitek žně",
    ),
    Language(
        "Slovak",
        "áäčďéíĺľňóôŕšťúýž",
        "že je nie viac ako môže môj byť bol bola priezvisko meno číslo množstvo čiastka mesiac "
        "deň týždeň február júl január október streda štvrtok nedeľa bratislava košice žilina "
        "prešov banská bystrica trenčín nitra ľubica ľudovít ľuboš juraj ján mária zuzana lukáš "
        "tomáš jozef štefan ďuriš horváth kováč tóth nagy baláž szabó molnár lukáč polák kráľ "
        "novák hudák čierny krajčír ďurica kňaz hlaváč šimko vlček žiak dieťa deti človek ľudia "
        "dom kôň mäso päť deväť desať dvadsať stôl nôž vôľa soľ päta mäkký vŕba stĺp hĺbka kŕč "
        "zákazník dodávateľ výrobok predaj účet úver platnosť priateľ učiteľ riaditeľ obyvateľov "
        "kúpiť robiť písať žiť veľký malý slovenská krížová námestie",
    ),
    Language(
        "Hungarian",
        "áéíóöőúüű",
        "és hogy nem van volt több mint még már így úgy őt ők egyéb összesen összeg mennyiség ár "
        "év hónap nap hét hétfő szerda csütörtök péntek szombat vasárnap január február március "
        "győr pécs szeged debrecen székesfehérvár kecskemét nyíregyháza szombathely veszprém "
        "egér érd vác gödöllő makó istván józsef lászló zoltán gábor péter tamás andrás erzsébet "
        "katalin mária judit ágnes éva ildikó zsófia györgy jenő gergő bálint mátyás árpád nagy "
        "kovács tóth szabó horváth varga kiss molnár németh farkas balogh papp takács juhász "
        "lakatos mészáros oláh fekete szűcs fehér szőke gulyás kőszegi erdős főző bíró kőműves "
        "név cím város utca szám telefonszám vevő eladó készült érték fizetés nő férfi gyerek "
        "könyv föld kör öt fű fűtés tűz hű gyűjtő nyelv ismerős erő idő felhő mező szőlő hűtő "
        "üzlet ügyfél fürdő külső belső előző következő utolsó első jövő szülő működés művész "
        "petőfi vörösmarty jókai móricz rákóczi széchenyi kazinczy batthyány esterházy thököly "
        "kőhalmi lővei bődy győri dezső kővári gyökössy czukor hőgyes kálnoky váczi perczel "
        "ferenczy zrínyi bánffy kenderessy sándorfi verőce tőzsér csík lőkös bőr kőris őszi rőt "
        "sőt nőtt lőtt kötő",
    ),
    Language(
        "Romanian",
        "ăâîşţșț",
        "şi că să în într până după fără către această aceasta când cât câte mâine pâine lângă "
        "român română românia bucureşti iaşi braşov constanţa ploieşti piteşti bacău botoşani "
        "timişoara galaţi argeş mureş vâlcea târgu gheorghiu ştefan ioniţă măriuţa ilinţa ţară "
        "ţăran oraş oraşul judeţ preţ cantităţi cumpărător vânzător adresă număr numărul "
        "persoană ştiinţă viaţă faţă dimineaţă bunătate băiat fată mamă tată casă masă "
        "sărbătoare săptămână luni marţi sâmbătă duminică română pădure pădureanu dumitraşcu "
        "nicolăescu bălan bărbat vară iarnă toamnă încă înapoi început însă împreună îngheţ "
        "răspuns cărţi părinţi fraţi naţional instituţie informaţii producţie sumă dată plată "
        "vândut câştig și oraș ștefan preț județ țară brașov iași mureș informații constanța "
        "ionuț",
    ),
    Language(
        "Croatian",
        "čćđšž",
        "što će još više može već nešto ništa čovjek ljudi žena muž riječ dječak djevojčica kuća "
        "noć moć pomoć veče sljedeći mjesec siječanj veljača ožujak travanj srpanj lipanj rujan "
        "četvrtak šest četiri tisuća račun količina cijena šifra naručitelj kupac plaćanje "
        "šibenik čakovec požega varaždin đakovo đurđevac koprivnica sisak niš čačak požarevac "
        "horvat kovačević babić marić jurić novak knežević vuković marković petrović jovanović "
        "nikolić đorđević popović pavlović blažević božić filipović matić perić tomić milošević "
        "ivanišević modrić mandžukić rakitić šimunić šarić žižić đokić anić ćosić ćurić čolić "
        "anđela đurđa željko željka tomislav krešimir dražen siniša miloš saša nataša snežana "
        "jasmina ćiro ivančica grožđe mlađi tvrđava vođa lađa rođen rođenje također sarađivati "
        "kuhinja školski školjka čaša žaba",
    ),
    Language(
        "Slovenian",
        "čšžćđ",
        "če še več že kaj človek ljudje žena mož hiša reč deček mesto mesec četrtek šest štiri "
        "tisoč račun količina cena šifra naročnik kupec plačilo ljubljana maribor celje kranj "
        "šempeter škofja loka črnomelj žalec novo mesto kočevje ribnica koper ptuj kovač kovačič "
        "novak zupančič potočnik vidmar golob kralj božič mlakar žagar hočevar turšič jerič "
        "žižek šarec janša pahor čater zorčič urbančič marinšek lovše matjaž tomaž blaž primož "
        "aleš uroš boštjan mateja špela neža živa čas učenec učitelj noč pomoč jezik slovenščina "
        "angleščina križ polž jež miš piš žoga šola čebela češnja življenje",
    ),
    Language(
        "Turkish",
        "âçğıîöşûüi̇",
        "ve bir için değil çok daha gibi şu şimdi şey şehir ülke dünya güneş ağaç çocuk kız "
        "kadın erkek anne baba kardeş öğrenci öğretmen okul sınıf kitap yıl ay gün hafta "
        "çarşamba perşembe salı cumartesi şubat ağustos eylül kasım aralık istanbul ızmir "
        "diyarbakır eskişehir muğla çanakkale kütahya ığdır şanlıurfa kırşehir nevşehir "
        "balıkesir tekirdağ beşiktaş üsküdar kadıköy yılmaz şahin çelik yıldız yıldırım öztürk "
        "aydın özdemir doğan kılıç arslan çetin koç şimşek özkan aslan güneş güler bulut "
        "kurtuluş yiğit ışık şen mustafa ayşe gülşen çiğdem şule tuğba özge gökhan çağlar tolga "
        "barış hüseyin ömer oğuz müşteri sipariş ürün fiyat tutar sayısı adı soyadı açıklama "
        "ödeme satış alış toplamı değer doğum tarihi iş işçi güzel büyük küçük kötü iyi yeşil "
        "kırmızı sarı mavi kâğıt hâlâ sağlık yağmur dağ oğlu erdoğan ağabey olduğu geldiği bağ "
        "çiçek dağlı eğitim fıstık gökçe hanımı ırmak kaçış leyla-gül mağaza nişan örneğin "
        "pişmiş rüzgâr sığır taşıma uçak vişne yaşlı zeytinyağı",
    ),
    Language(
        "Russian",
        "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
        "и в не на что с по это как но он она они все его для так вы мы от за же из у то только "
        "иван иванов иванова петров петрова сидоров смирнов кузнецов попов васильев соколов "
        "михайлов новиков фёдоров морозов волков алексеев лебедев семёнов егоров павлов козлов "
        "степанов николаев орлов андреев макаров никитин захаров александр сергей дмитрий андрей "
        "алексей максим евгений владимир наталья елена ольга татьяна анна мария екатерина ирина "
        "юлия светлана людмила москва санкт-петербург новосибирск екатеринбург казань нижний "
        "новгород челябинск самара омск ростов уфа красноярск пермь воронеж волгоград россия "
        "город улица дом имя фамилия адрес телефон цена сумма количество дата номер договор "
        "товар заказ клиент поставщик оплата счёт рубль январь февраль март апрель май июнь июль "
        "август сентябрь октябрь ноябрь декабрь понедельник вторник среда четверг пятница "
        "суббота воскресенье большой новый человек время год день жизнь работа слово место "
        "вопрос сторона страна мир который быть мочь сказать этот объект подъезд щука съезд чай "
        "шина хлеб языка",
    ),
    Language(
        "Ukrainian",
        "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
        "і в не на що з по це як але він вона вони всі його для так ви ми від за із у то тільки "
        "шевченко коваленко бондаренко ткаченко кравченко олійник шевчук коваль поліщук бойко "
        "мельник марченко лисенко савченко руденко петренко іваненко олександр сергій дмитро "
        "андрій олексій максим євген володимир наталія олена ольга тетяна ганна марія катерина "
        "ірина юлія світлана людмила київ харків одеса дніпро львів запоріжжя вінниця чернівці "
        "полтава черкаси хмельницький житомир україна місто вулиця будинок ім'я прізвище адреса "
        "телефон ціна сума кількість дата номер договір товар замовлення клієнт рахунок гривня "
        "січень лютий березень квітень травень червень липень серпень вересень жовтень листопад "
        "грудень понеділок вівторок середа четвер п'ятниця субота неділя великий новий людина "
        "час рік день життя робота слово місце питання країна світ який бути їжа її їхній ґанок "
        "ґрунт сім'я щастя є європа єдність",
    ),
    Language(
        "Belarusian",
        "абвгдеёжзійклмнопрстуўфхцчшыьэюя",
        "і ў не на што з па гэта як але ён яна яны усе яго для так вы мы ад за із каваленка "
        "мінск гомель магілёў віцебск гродна брэст беларусь горад вуліца дом імя прозвішча адрас "
        "кошт сума колькасць дата нумар тавар студзень люты сакавік красавік май чэрвень ліпень "
        "жнівень верасень кастрычнік лістапад снежань новы чалавек час год дзень жыццё праца "
        "слова аляксандр сяргей дзмітрый андрэй уладзімір наталля алена вольга таццяна ганна "
        "кацярына",
    ),
    Language(
        "Bulgarian",
        "абвгдежзийклмнопрстуфхцчшщъьюяѝ",
        "и в не на че с по това как но той тя те всички за така вие ние от се да ще са съм "
        "иванов георгиев димитров петров николов стоянов тодоров христов илиев ангелов колев "
        "георги димитър иван петър николай стоян тодор христо мария елена радка цветелина "
        "йорданка ивайло красимир пламен александър софия пловдив варна бургас русе стара загора "
        "плевен сливен добрич шумен българия град улица къща име фамилия адрес телефон цена сума "
        "количество дата номер договор стока поръчка клиент плащане сметка януари февруари март "
        "април май юни юли август септември октомври ноември декември понеделник вторник сряда "
        "четвъртък петък събота неделя голям нов човек време година ден живот работа дума място "
        "въпрос страна свят който бъда мога първи втори двадесет къде път ъгъл съвет търговия",
    ),
    Language(
        "Serbian",
        "абвгдђежзијклљмнњопрстћуфхцчџш",
        "и у не на што са по ово како али он она они сви његов за тако ви ми од из се да ће су "
        "сам јовановић петровић николић марковић ђорђевић стојановић илић станковић павловић "
        "милошевић јован петар никола марко ђорђе милан драган зоран љубица јелена мирјана "
        "снежана београд нови сад ниш крагујевац суботица зрењанин панчево чачак србија град "
        "улица кућа име презиме адреса цена сума количина датум број уговор роба поруџбина купац "
        "плаћање рачун јануар фебруар понедељак уторак среда четвртак петак субота недеља велики "
        "нов човек време година дан живот рад реч место питање земља свет који бити џеп његош "
        "љубав ћирилица",
    ),
    Language(
        "Macedonian",
        "абвгдѓежзѕијклљмнњопрстќуфхцчџш",
        "и во не на што со по ова како но тој таа тие сите за така вие ние од се да ќе сум "
        "стојановски петровски николовска трајковски скопје битола куманово прилеп охрид "
        "македонија град улица куќа име презиме адреса цена сума количина датум број нарачка "
        "купувач плаќање ѓорѓи ѓорче ќиро јануари недела голем нов човек време година ден живот "
        "работа збор ѕвезда",
    ),
    Language(
        "Greek",
        "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",
        "και το να του η της με για που την από τα δεν στο είναι θα οι στην ο μια αθήνα "
        "θεσσαλονίκη πάτρα ηράκλειο λάρισα βόλος ιωάννινα χανιά ρόδος καλαμάτα ελλάδα κύπρος "
        "γιώργος ιωάννης κωνσταντίνος δημήτρης νίκος παναγιώτης βασίλης χρήστος αθανάσιος "
        "μιχάλης μαρία ελένη αικατερίνη βασιλική σοφία αγγελική γεωργία χριστίνα παπαδόπουλος "
        "παπαδοπούλου βλάχος αγγελόπουλος νικολάου γεωργίου δημητρίου ιωάννου οικονόμου αντωνίου "
        "όνομα επώνυμο διεύθυνση τηλέφωνο τιμή ποσό ποσότητα ημερομηνία αριθμός πελάτης προϊόν "
        "παραγγελία πληρωμή λογαριασμός σύνολο πόλη οδός χώρα έτος μήνας ημέρα ώρα ιανουάριος "
        "φεβρουάριος μάρτιος απρίλιος δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο κυριακή "
        "άνθρωπος χρόνος ζωή κόσμος μέρος σπίτι μεγάλος νέος καλός όλα ένα δύο τρία έξι εφτά "
        "οκτώ εννέα δέκα άλλος έχει ψωμί ξένος εταιρεία υπηρεσία",
    ),
    Language(
        "Hebrew",
        "אבגדהוזחטיךכלםמןנסעףפץצקרשת",
        "של את על לא הוא היא זה אני כל עם כי גם או מה יש שלום ישראל ירושלים חיפה תל אביב באר שבע "
        "כהן לוי מזרחי פרץ ביטון דהן אברהם יצחק יעקב משה דוד יוסף שרה רחל לאה מרים חנה שם משפחה "
        "כתובת טלפון מחיר סכום כמות תאריך מספר לקוח הזמנה תשלום רחוב עיר שנה חודש יום ראשון שני",
    ),
    Language(
        "Arabic",
        "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژگًٌٍَُِّْ،؛؟",
        "من في على إلى أن هذا التي الذي كان مع عن ما لا هو هي محمد أحمد علي حسن حسين عبد الله "
        "فاطمة عائشة خديجة مريم يوسف إبراهيم خالد عمر مصطفى القاهرة بغداد دمشق بيروت الرياض مكة "
        "المغرب الجزائر تونس مصر العراق سوريا الاسم العنوان الهاتف السعر المبلغ الكمية التاريخ "
        "رقم العميل الطلب الدفع شارع مدينة سنة شهر يوم تهران اصفهان پارسی گروه چهار",
    ),
    Language(
        "Thai",
        "กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรฤลฦวศษสหฬอฮะัาำิีึืฺุูเแโใไๅๆ็่้๊๋์ํ๎฿",
        "ที่ และ ใน ของ เป็น มี ไม่ การ จะ ได้ ให้ กรุงเทพมหานคร เชียงใหม่ ภูเก็ต ขอนแก่น ประเทศไทย สมชาย "
        "สมหญิง ประเสริฐ วิชัย สุดา ชื่อ นามสกุล ที่อยู่ โทรศัพท์ ราคา จำนวน วันที่ เลขที่ ลูกค้า สินค้า ถนน จังหวัด ปี "
        "เดือน วัน มกราคม กุมภาพันธ์ มีนาคม เมษายน",
    ),
)
