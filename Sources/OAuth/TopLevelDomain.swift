/// The top-level domains of the DNS. The first label of a reversed domain name must be one of them.
///
/// The check is weak, because words such as `app` and `dev` are top-level domains, too. The list is not complete. A
/// scheme whose top-level domain is missing from the list can be registered with `schemes: minimum`.
enum TopLevelDomain {
  static func isDelegated(_ label: Substring.UTF8View) -> Bool {
    // Internationalised domains begin with `xn--` in the DNS. There are many, so they are not listed.
    if label.count > 4, label.starts(with: "xn--".utf8) { return true }
    return all.contains(Substring(label))
  }

  private static let all: Set<Substring> = Set((generic + " " + country).split(whereSeparator: \.isWhitespace))

  private static let country = """
    ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bv bw by bz ca cc
    cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb
    gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke
    kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu
    mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw
    sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz
    ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw
    """

  private static let generic = """
    com net org edu gov mil int arpa info biz name pro aero coop museum jobs mobi travel tel cat asia post xxx
    academy accountant accountants actor adult agency airforce amsterdam apartments app apple archi army art associates
    attorney auction audio auto autos aws azure baby band bank bar barcelona bargains baseball basketball bayern beauty
    beer berlin best bet bible bid bike bingo bio black blackfriday blog bloomberg blue bmw boats boo book boston bot
    boutique box broadway broker brother brussels build builders business buy buzz cab cafe cam camera camp canon capital
    car cards care career careers cars casa case cash casino catering center ceo charity chat cheap church cisco citi
    city claims cleaning click clinic clothing cloud club coach codes coffee college cologne community company compare
    computer condos construction consulting contact contractors cooking cool corsica country coupons courses credit
    creditcard cricket cruises dad dance data date dating day deals degree delivery deloitte democrat dental dentist
    design dev diamonds diet digital direct directory discount diy docs doctor dog domains download drive durban earth
    eat eco education email energy engineer engineering enterprises epson equipment ericsson esq estate eus events
    exchange expert exposed express fail faith family fan fans farm fashion fedex feedback film final finance financial
    fish fishing fit fitness flights florist flowers fly foo food football forex forsale forum foundation fox free fujitsu
    fun fund furniture futbol fyi gal gallery game games garden gay gdn gent gift gifts giving glass global gmail gmbh
    gold golf goog google gop graphics gratis green gripe group guide guitars guru hair hamburg haus health healthcare
    help helsinki here hermes hiphop hiv hockey holdings holiday homes honda horse hospital host hosting hotels house
    how hsbc hyundai ibm icu immo immobilien inc industries ing ink institute insurance insure intel international
    investments irish ist istanbul java jewelry joburg jpmorgan juegos kaufen kia kids kim kitchen kiwi koeln kpmg krd
    kyoto lamborghini land law lawyer lease legal lego lexus lgbt life lifestyle lighting limited limo link live living
    llc llp loan loans locker lol london lotto love ltd ltda luxe luxury madrid maison makeup management mango map
    market marketing markets mba media meet melbourne meme memorial men menu miami microsoft mit mobile mom money monster
    mortgage moscow moto motorcycles mov movie music nagoya navy nec network neustar new news nexus ngo nico nike nissan
    nokia now nrw ntt nyc observer okinawa omega one ong onl online ooo oracle orange organic osaka ovh page panasonic
    paris partners parts party pay pet pharmacy phd philips phone photo photography photos physio pics pictures pid ping
    pink pioneer pizza place play plumbing plus poker porn press prime productions prof promo properties property
    protection pub qpon quebec quest racing radio read realestate realtor realty recipes red rehab reise reisen ren rent
    rentals repair report republican rest restaurant review reviews rich ricoh rip rocks rodeo rsvp rugby ruhr run ryukyu
    saarland sale salon samsung sandvik sap sarl save sbi schmidt school schule science scot seat secure security seek
    select services seven sew sex sexy sharp shell shiksha shoes shop shopping show singles site ski skin sky soccer
    social softbank software solar solutions sony soy spa space sport spot srl storage store stream studio study style
    sucks supplies supply support surf surgery suzuki swatch swiss sydney systems taipei talk tatar tattoo tax taxi team
    tech technology tennis theater theatre tickets tienda tips tires tirol today tokyo tools top toray toshiba total tours
    town toyota toys trade trading training trust tube tui tunes university uno vacations vegas ventures verisign
    versicherung vet viajes video villas vin vip visa vision vivo vlaanderen vodka volvo vote voting voto voyage wales
    walter wang watch watches weather webcam weber website wed wedding weir whoswho wien wiki win wine work works world
    wtf xbox xerox xin xyz yachts yahoo yandex yoga yokohama you youtube zara zip zone zuerich
    """
}
