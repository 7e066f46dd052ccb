"""Names, places and everyday words of 31 languages, to write files of.

None of them is among the words that detection knows: `test_encoding_matrix` takes those out.
"""

__all__ = ["CODECS", "WORDS"]

WORDS = {
    "French": (
        "Benoîte Anaïs Étienne Loïc Maëlys Inès Océane Noémie Gaétan Médéric Timothée Raphaël "
        "Théodore Hervé Grégoire Clémence Mélanie Véronique Valérie Édouard Lefébure Beauséjour "
        "Delétang Brûlé Chrétien Désormeaux Guérin Béranger Leclère Pérignon Mérimée Angoulême "
        "Nevèrs Périgueux Montélimar Épinal Alès Sèvres Compiègne Vézelay Mâcon Fréjus Bédarieux "
        "Créteil pièce légume poêle cuillère étagère fenêtrage réglé payé envoyé livré détail "
        "modifié rédigé côté chaîne boîte théière écharpe Façonnage commerçant maçon"
    ),
    "German": (
        "Schönfeld Müllerin Kästner Brömmel Löffler Wörner Schäuble Lübke Grünberg Dürer Höfer "
        "Büttner Möbius Rühmann Läufer Pfänder Täuber Strößner Großmann Weißmann Ließem Jörn "
        "Günter Rüdiger Jördis Käthchen Änne Sören Görlitz Nördlingen Füssen Kempten-Süd Ängste "
        "Öfen Überweisung Rechnungsprüfer Stückzahl Lieferländer Gerät Verstärker Säge Möhre "
        "Apfelmüsli Fußball Straßenbahn Grüße Maßband Füller Tücher Büroklammer Kühlschrank"
    ),
    "Spanish": (
        "Peñalver Muñiz Cañizares Castañeda Avendaño Riaño Ocaña Piñero Saldaña Ureña Begoñita "
        "Iñaki Íñigo Beltrán Hernán Gastón Simón Efraín Matías Tomás Elías Nicolás Úrsula Ágata "
        "Cristóbal Marín Galán Durán Benítez Ibarrondó Galdós Cortés Valdés Bermúdez Alarcón "
        "Cárdenas Guzmán Chávez Castellón Alcorcón Cuautitlán Yucatán Michoacán Mazatlán Ibagué "
        "Popayán Medianía balón cañón limón jamón jabón camión reloj-señal cálculo matrícula "
        "cédula índice inversión peldaño tamaño araña leña piñata ñandú muñeca"
    ),
    "Italian": (
        "Niccolò Mosè Giosuè Noè Salomè Desirè Nicolò Cantalupò Agrò Alì Bertè Calamandrè Muggiò "
        "Patù Corfù Scalà Viggiù Salò Rhò Almè Lovere-Nè Carrù Forlì-Cesena Sanzenò varietà "
        "velocità felicità capacità unità gravità autorità metropolità lassù quaggiù ragù "
        "tiramisù bontà pietà pubblicità cosicché poiché affinché ventitré trentatré cambierò "
        "pagherò manderà spedì finì partì"
    ),
    "Portuguese": (
        "Estevão Fabião Falcão Frazão Galvão Assumpção Brandão Luísa Júlia Otávio Cecília "
        "Letícia Natália Vinícius Tomé Bárbara Débora Ângelo Ângela Anália Távora Távares Pinhão "
        "Conceição Queirós Guimarãis Barcelãos Portimão Olhão Famalicão Marvão Loulé Tondã "
        "Açores Alcobaça Bragançano Monção Mourão Ribeirão Piauí Niterói Jundiaí Tucuruí Maringá "
        "Macaé Cuiabá limão feijão pinhões botões cartões leões limões balança licença presença "
        "órgão sótão câmbio relatório orçamento cobrança armazém também parabéns"
    ),
    "Dutch": (
        "Zoëtje Daniëlle Michaëla Gaëlle Joëlla Raphaëlle Noëlle Thaïs Anaïs Chloé Andréas "
        "Desirée Thérèse Ruud-André Noël Israëls Ariëns Adriaën Briënen Oriënt Beïnum Indonesië "
        "Brazilië Australië Argentinië Tunesië Bulgarije-Servië Macedonië olieën poriën reünies "
        "coördinator geïnd beïnvloed naäpen poëzie financiën geëist ruïnes drieëndertig "
        "tweeëntwintig knieën zeeëgel cliënte patiënten variëteit"
    ),
    "Swedish": (
        "Sjögren Åslund Östlund Lönn Blomqvist-Åhl Håkanson Mårtenson Björkman Hägglund Nyström "
        "Ljungström Sandström Åhlén Lidström Högberg Öhman Östman Årrhenius Fältskog Ingemar-Åke "
        "Göte Gösta Märtha Bengt-Åke Torbjörn Bodström Härnösand Örnsköldsvik Mölndal Ängelholm "
        "Strängnäs Sölvesborg Åmål Höganäs Vänersborg Skövde Älmhult bröd smör ägg fågel mjölk "
        "hållplats köksbord fönster säng tröja strumpbyxör målning påse måltid kläder "
        "beställning leverantör mängd"
    ),
    "Danish": (
        "Bjørnsson Thøgersen Børgesen Nørregård Kjærulff Skjødt Bækgaard Grønbæk Højgaard "
        "Ravnkjær Møllegård Ågesen Sønderby Åkjær Østerby Brøgger Kærsgaard Væver Jørgine Søs "
        "Åge Tyrsøn Hjørring Brønderslev Rødovre Tønder Løgstør Nykøbing Ringkøbing Ølstykke "
        "Grenå Assensø Mariagerfjord-Sø Værløse Hørsholm rødgrød pølse æbleskive stålpære "
        "kæreste læge fødsel mælk kød gulerødder nøgle værktøj mængde vægt udløb pålæg"
    ),
    "Norwegian": (
        "Bjørnstad Sæther Sørli Ødegården Åmodt Grønli Bråten Håland Røed Nygård Skår Vågen "
        "Moløkken Lærdal Kjølstad Øverland Østby Åsheim Hågensen Øyvor Jørund Bjørg Pål-Øystein "
        "Solbjør Ålgård Måløy Hønefossen Mosjøen Levangerøy Bærum Tromsøya Førde Vågå Kirkenesæ "
        "Sørreisa Ørsta Løten brødskive smørbukk løp årsmøte båtplass måltid hjørne gjær fjær "
        "kjære vedlegg-års ønsker"
    ),
    "Finnish": (
        "Häyhä Mäkäräinen Hyvärinen Nykänen Hämälä Pöysti Väätäinen Kärki Ylönen Pätsi Sillanpää "
        "Räsänen Tähtinen Jäntti Mäntylä Vänskä Äijälä Öhberg Päivi Päivikki Jyrki-Pää Väinö "
        "Äänis Riihimäki Hyvinkää Kemijärvi Pyhäjärvi Ähtäri Mäntsälä Nilsiä Säkylä Jämsä "
        "Järvenpää lämmin kylmä leipä hedelmä kärpänen pöllö hämärä tyttö mäyrä käärme hyppää "
        "järjestelmä tekijä näyttö löytö pysäkki kynä"
    ),
    "Icelandic": (
        "Þorgerður Þórhildur Þorvaldur Sigríður Ragnhildúr Ingibjörg Aðalsteinn Friðrik Hörður "
        "Guðlaugur Hlöðver Védís Álfheiður Bergþóra Eyþór Steinþór Jóhannes Jóhanna Katrín "
        "Ármann Össur Pálsson Hauksdóttir Stefánsson Þórðarson Einarsdóttir Árnason Blöndal "
        "Húsavík Dalvík Siglufjörður Ólafsvík Stykkishólmur Þorlákshöfn Selfossið Grindavík "
        "Egilsstaðir kaffið mjólk brauðið fiskur-þorskur vinnustaður þvottur skóli háskóli bíll "
        "flugvöllur"
    ),
    "Catalan": (
        "Agnès Jaumè Ramón-Lluís Adrià Bernadí Bàrbara Cèsar Èric Gisèle Estèvez Fàbregas Güell "
        "Muntané Pagès Ràfols Serrà Vallès Bartomeu-Solà Tarragó Balaguer-Fàbrega Penedès "
        "Empúries Vilafranca-Centelló Reus-Alforgès Cadaqués Lleó Balançó Bàscara Sitgès Alcoià "
        "Gandià entrepà cafè-llet esmorzar-pèsol maçana forn-llençol llançadora àvia pèl germà "
        "cosí veí país-veí setmanà avís préstec crèdit col·lecció mil·lenni"
    ),
    "Estonian": (
        "Rõivas Põder Kõiv Kõrv Lõhmus Mölder Pärn Jõesaar Mägi Käbin Järvet Küüts Öpik Ülemiste "
        "Ülar Õie Õnne Jõulu Rändla Tüür Väljas Söödor Pühajärv Võhma Kärdla Mõisaküla Räpina "
        "Rõuge Põltsamaa Tõrva Türi Kohtla-Järve Ahtme-Lõik Nõmme õun või-leib sõrmus kööme räim "
        "hõbedane kütus õlu pööning küünal käärid võti köök šampoon žilett tšekk"
    ),
    "Latvian": (
        "Gints-Āris Edgars-Žanis Aigars Ēriks Ķēniņš Bērziņa Kalniņa Žagars Ģēģeris Siliņš "
        "Vējonis Dombrovskis-Šķēle Ābele Zvejnieks-Ķirš Lāce Dzenītis Šmits Pūce Grīnbergs "
        "Vanags-Žīgurs Mālpils Ķekava Ādaži Ogrē Aizkraukle-Skrīveri Kuldīga Talsi-Ģibuļi Smārde "
        "Bauskā Krāslava Līvāni Preiļi Ērgļi maize-žāvēta kafija-tēja kūka ābols bumbiēris "
        "pīrāgs krēsls galdiņš logs-ēna māksla dziesmiņa rēķins līgums piegāde cenā"
    ),
    "Lithuanian": (
        "Adomaitytė Balčiūnas Bražinskas Grinevičiūtė Kubilienė Jasikevičius Sabonis-Šaras "
        "Landsbergienė Žalgiris Šliūpas Radžiūnas Matulevičius Gražulis Kęstas Žilvinas "
        "Raimondėlis Ąžuolynė Birštonas Druskininkėliai Anykščiai Ukmergė Kupiškis Šilutė Plungė "
        "Biržai Joniškis Šakiai Trakų Rokiškis duonelė sūris žuvis obuolių arbatėlė kėdė "
        "stalčius žvakė šviesą sąrašas tiekėjas užsakymas gamyklą išlaidos"
    ),
    "Polish": (
        "Bączek Ćwikła Gołębiewski Jędrzejczak Kaźmierczak Łęcki Mączyński Niedźwiedź Pająk "
        "Skrzypczyk-Żak Śliwiński Świątek Wałęsa Zięba Żurawski Źdźbło Wyspiański "
        "Mickiewicz-Żyła Przybyła Błażej Bolesław Czesław Franciszek-Józef Kazimierz-Bożydar "
        "Świętosława Jagnięcin Olsztynek-Łąki Bydgoszcz-Północ Zgierz-Łagiewniki Kołobrzeg "
        "Świnoujście Zamość Przemyśl Chełm Łomża Ełk Puławy-Dęblin chleb-żytni masło jabłko "
        "gruszę śliwka wiśnia stół krzesło łóżko okręt książę pociąg dworzec-główny opłata "
        "rabat-świąteczny"
    ),
    "Czech": (
        "Dvořáček Hrušková Chalupová-Říhová Jiráček Kratochvíl Křížek Ludvík Mašek Němcová "
        "Ptáček Řehák Strnadová-Žáková Štěpánek Šimůnek Tůma Urbánek Vlček Zahradníček Žižka "
        "Bořivoj Břetislav Čeněk Přemysl Věra Zdeňka Růžena Oldřich Radomír Náchod Jihlava-Hůrka "
        "Písek-Újezd Mělník Říčany Kutná Hora-Žižkov Břeclav Šumperk Přerovský Těšín chléb máslo "
        "mléko hruška třešeň nůž vidlička-lžíce židle stůl okno-dveře světlo hřiště vlak-nádraží "
        "objednávka zboží doručení"
    ),
    "Slovak": (
        "Bartoš Bednárik Ďurkovič Hudáček Kollárová Krajňák Ľupták Maťašovský Mihálik "
        "Oravcová-Žišková Pavlík Rusnák Štúr Švantner Tkáčová Vráblik Žilka Ľudmila Matúš "
        "Miloslav-Ján Šimon Tibor-Peťo Želmíra Oľga Piešťany Liptovský Mikuláš "
        "Ružomberok-Čutkovo Lučenec Rožňava Kežmarok Púchov Detva-Sliač Šaľa Senica-Čáčov chlieb "
        "mlieko jablká hruška čerešňa stolička kľúč okuliare-žlté svetlo ihrisko-štadión "
        "vlak-stanica objednávka dôchodok poisťovňa pôžička"
    ),
    "Hungarian": (
        "Bárány Csányi Dömötör Fülöp Gáspár Hegedűs Illés Jónás Kőrösi Lőrincz Mező "
        "Nyerges-Sipőcz Ökrös Pásztor Rőczei Sárközi Szőllősi Tímár Ürge Vörös Zsíros Bendegúz "
        "Csongor-Dezső Ödön Örs Szilárd Emőke Tünde Réka-Eszter Tőkés Kunszentmárton Gyöngyös "
        "Hódmezővásárhely Cegléd Kőszeg Tiszaújváros Sárvár Dunaújváros Balatonfüred Mezőkövesd "
        "kenyér víz tej-tejföl körte szilva-dió meggy asztal-székek ágy fénykép repülőgép "
        "pályaudvar rendelés szállító önkéntes szűrő tűzoltó"
    ),
    "Romanian": (
        "Bărbulescu Cătălin Dănilă Făgăraş Grădinaru Hârşova Ioniţe Lăcătuş Măgureanu Năstase "
        "Pătraşcu Răducanu Sârbu Şerban Tănase Ţepeş Văcărescu Mădălina Rădulescu Ştefania "
        "Anişoara Ilarişa Luminiţa Nuţu Costăchescu Bistriţa Câmpina Drăgăşani Focşani "
        "Hunedoara-Călan Lugoj-Făget Mangalia-Eforiţă Reşiţa Târgovişte Călăraşi Slănic "
        "Urziceni-Şes pâinea lăptişor măr pere-cireşe prună scăunel uşă fereastră lumânare gară "
        "tren-întârziere comandă livrări-acasă chitanţă"
    ),
    "Croatian": (
        "Bošnjak Čolak Ćaleta Đureković Grgić Hadžić Ivković Jelačić Kralježić Ljubičić Matošić "
        "Njegovan-Šokčić Oršić Perišić Radočaj Štimac Tadić Vlašić Zorić Župan Božena-Đurđica "
        "Dragića Hrvoje-Žarko Matija-Šime Nediljko-Ćiril Vjekoslav-Đuro Blaženka Žaklina "
        "Osijek-Čepin Križevci Čazma Našice Đurmanec Vukovar-Ilača Županja Nin-Šepurine "
        "Makarska-Živogošće Omiš kruh-češnjak mlijeko-čaj jabuka-šljiva krušaka žlica nož-čaša "
        "stolčić svijećnjak igralište narudžba isporučeno račući"
    ),
    "Slovenian": (
        "Ambrožič Bizjak-Žnidar Cankar-Škerjanc Dolenšek Erjavšek Furlan-Čuk Gorišek "
        "Hribar-Žerjav Jenčič Košir Lešnik Mežnar Novšak Oblak-Češnovar Pečar Rožič Sušnik "
        "Šuštar Tršar Vrečko Zajšek Žibert Andraž Gašper Jože Tadej-Žiga Urška Nataša-Špelca "
        "Katjuša Brežice Trbovlje-Šmarje Idrija-Žiri Črniče Šentjur Sežana Radovljica-Lešce "
        "Ajdovščina Litija-Šmartno kruhek-češpa mleko-čaj jabolčnik hruška češnjev stolček "
        "žlička nož-čopič luč igrišče vlak-postajališče naročilo dobavnišče"
    ),
    "Turkish": (
        "Ağaoğlu Bayındır Çakır Demirtaş Erdoğmuş Fıstıkçı Gündoğdu Hacıoğlu İnönü Karabıyık "
        "Küçükkaya Menderes-Işıklar Nalbantoğlu Özgür Pınarbaşı Soylu-Tığ Şenocak Taşçı Uğurlu "
        "Üçok Yağcı Zeytinoğlu Aslıhan Buğra Doğukan İbrahim Nurgül Pınar Sıla Tuğçe Ümit "
        "Yıldıray Aksaray-Eşmekaya Bingöl Çorum Gümüşhane Hakkâri Iğdır İzmit Kırıkkale Muş "
        "Niğde Şırnak Uşak ekmeği süt-yoğurdu kirazı şeftali sandalye-ışığı bıçak kaşık "
        "pencere-kapısı ışıltı istasyonu siparişi teslimatı borçlu gönderi"
    ),
    "Russian": (
        "Абрамов Белоусов Виноградова Гаврилов Дьяков Ермакова Журавлёв Зимин Исаев Калашников "
        "Лукин Матвеева Назаров Осипова Пономарёв Рябов Савельева Титов Ульянов Филиппова Хохлов "
        "Цветков Чернышёв Шубин Щербаков Эдуард Юдин Яковлева Геннадий Любовь Тимофей Ярослав "
        "Зинаида Эльвира Барнаул Владивосток Грозный Иркутск Калуга Липецк Магадан Нальчик Орёл "
        "Псков Рязань Смоленск Тверь Ульяновск Хабаровск Чита Элиста Ярославль молоко хлеба "
        "яблоко груша вишня стол стул кровать ложка тарелка окно дверь свет вокзал поезд "
        "доставка скидка"
    ),
    "Ukrainian": (
        "Білоус Гончаренко Дяченко Єфименко Жук Зінченко Їжакевич Кириленко Литвиненко Мазур "
        "Назаренко Остапчук Приходько Романюк Сидоренко Тимошенко Федорченко Харченко Цимбалюк "
        "Червоненко Щербина Юрченко Яковенко Богдан Василь Галина Євдокія Микола Оксана "
        "Святослав Юрій Бердянськ Гадяч Дрогобич Жмеринка Ізмаїл Кременчук Луцьк Миколаїв Ніжин "
        "Прилуки Рівне Суми Тернопіль Ужгород Чернігів молоко яблуко хліб вишня стіл стілець "
        "ліжко ложка вікно двері світло потяг доставка знижка"
    ),
    "Bulgarian": (
        "Атанасов Божилов Василева Господинов Добрев Енчева Желязков Златева Йорданов Къдрева "
        "Любенов Маринова Недялков Орешаров Първанов Русев Славчева Трифонов Узунов Филипова "
        "Хаджиев Цанков Чавдаров Шопов Щерев Янкова Богомил Веселин Дарина Желю Здравко Кремена "
        "Любомир Огнян Росица Силвия Антоново Благоевград Велинград Габрово Дупница Казанлък "
        "Кърджали Ловеч Монтана Перник Разград Силистра Търговище Хасково Ямбол хляб мляко "
        "ябълка круша череша маса стол легло лъжица прозорец врата гара влак доставка отстъпка"
    ),
    "Greek": (
        "Αλεξίου Βενιζέλος Γαλάνης Δελής Ευθυμίου Ζαχαρίας Ηλιόπουλος Θεοδωράκης Ιακωβίδης "
        "Καραγιάννης Λαμπράκης Μακρής Νικολαΐδης Ξανθόπουλος Οικονομίδης Παπανδρέου Ράπτης "
        "Σαμαράς Τσίπρας Υψηλάντης Φωτίου Χατζής Ψαρράς Ωνάσης Άγγελος Έλλη Ήβη Ίρις Όλγα "
        "Σταύρος Ευάγγελος Δέσποινα Κέρκυρα Τρίκαλα Σέρρες Κοζάνη Καβάλα Ναύπλιο Σπάρτη Μυτιλήνη "
        "Σύρος Πύργος Λαμία Γρεβενά γάλα μήλο κεράσι τραπέζι καρέκλα κρεβάτι κουτάλι παράθυρο "
        "πόρτα σταθμός τρένο παράδοση έκπτωση"
    ),
    "Japanese": (
        "渡部さくら 松田一郎 大野裕太 上田陽子 杉山達也 増田まゆみ 平野真一 久保田恵 丸山ひろし "
        "新井聡 横山ゆかり 宮本健二 藤原直人 今井由紀 河野大介 高田千春 菅原徹 千葉あゆみ "
        "武田信夫 原田めぐみ 京都市左京区 名古屋市 さいたま市 北九州市 長野県松本市 つくば市 "
        "青森市 高知市 奈良市 りんご みかん お茶 コーヒー パン テーブル 椅子 窓 鍵 電池 カメラ "
        "ノート えんぴつ 注文書 請求書 納品日 在庫数 東京タワー 新宿駅 お客様番号 "
        "ありがとうございます"
    ),
    "Chinese": (
        "王小明 张伟杰 刘德华 陈丽娟 杨志刚 赵文静 黄晓红 周建平 吴美玲 徐海涛 孙玉兰 马俊 "
        "胡雪梅 朱国强 郭春燕 何家辉 高翔 林志玲 罗文 郑爽 梁朝阳 谢婷婷 宋佳 唐诗 许巍 邓超 "
        "冯小刚 曹颖 北京市朝阳区 上海浦东 广州市 深圳南山 杭州西湖 成都武侯区 武汉 重庆 天津 "
        "苏州园林 牛奶 面包 苹果 桌子 椅子 窗户 钥匙 电脑 手机 订单编号 发票 客户名称 交货日期 "
        "库存数量 谢谢您的支持"
    ),
    "traditional Chinese": (
        "王小明 張偉傑 劉德華 陳麗娟 楊志剛 趙文靜 黃曉紅 周建平 吳美玲 徐海濤 孫玉蘭 馬俊 "
        "胡雪梅 朱國強 郭春燕 何家輝 高翔 林志玲 羅文 鄭爽 梁朝陽 謝婷婷 宋佳 蔡英文 許巍 鄧超 "
        "馮小剛 曹穎 臺北市大安區 高雄市 新竹縣 臺南市 桃園機場 花蓮縣 香港九龍 澳門 牛奶 麵包 "
        "蘋果 桌子 椅子 窗戶 鑰匙 電腦 手機 訂單編號 發票 客戶名稱 交貨日期 庫存數量 "
        "謝謝您的支持"
    ),
    "Korean": (
        "김민준 이서연 박지훈 최수빈 정예은 강도윤 조하은 윤서준 장지우 임채원 한지민 오승현 "
        "서은지 신동욱 권나라 황민호 안소희 송태섭 전유진 홍길동 고은별 문재혁 양세찬 배수지 "
        "백종원 허진호 남궁민 심은하 서울특별시 부산광역시 대구시 인천 광주 대전시 울산 수원시 "
        "제주도 강릉 우유 빵 사과 책상 의자 창문 열쇠 컴퓨터 휴대폰 주문번호 영수증 고객이름 "
        "배송일 재고수량 감사합니다"
    ),
}  # fmt: skip
"""Words of each language; a hyphen, too, is part of one."""

_WESTERN = ("cp1252", "latin-1", "iso8859-15", "cp850", "cp437", "mac_roman", "cp1254")
_ALL = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le")

CODECS = {
    **dict.fromkeys(WORDS, (*_ALL, *_WESTERN, "cp1250", "iso8859-2", "cp1257")),
    **dict.fromkeys(("Russian", "Ukrainian", "Bulgarian"), (*_ALL, "cp1251", "koi8-r")),
    "Greek": (*_ALL, "cp1253"),
    "Japanese": (*_ALL, "cp932", "euc_jp"),
    "Chinese": (*_ALL, "gb18030", "gbk"),
    "traditional Chinese": (*_ALL, "big5", "gb18030"),
    "Korean": (*_ALL, "cp949", "euc_kr"),
}
"""Encodings in which a language may be written; those out that do not have its letters."""
