/// Schemes that a redirect URI may not use as its private-use scheme, because they have another use: each scheme is
/// registered with IANA, or a browser or an operating system handles it. A redirect to a URI with such a scheme could
/// run a script, open a file or start another program (RFC 7595, section 3.8).
enum ReservedScheme {
  static let all = Set(list.split(whereSeparator: \.isWhitespace).map(String.init))

  private static let list = """
    aaa aaas about acap acct acd acr adiumxtra adt afp afs aim amss android appdata apt ar ark attachment aw barion
    bb beshare bitcoin bitcoincash blob bolo brid browserext cabal calculator callto cap cast casts chrome
    chrome-extension chrome-untrusted cid coap coap+tcp coap+ws coaps coaps+tcp coaps+ws com-eventbrite-attendee
    content content-type crid cstr cvs dab dat data dav dhttp diaspora dict did dis dlna-playcontainer
    dlna-playsingle dns dntp doi dpp drm drop dtmi dtn dvb dvx dweb ed2k edge eid elsi embedded ens ethereum
    example facetime fax feed feedready fido file filesystem finger first-run-pen-experience fish fm ftp
    fuchsia-pkg geo gg git gitoid gizmoproject go gopher graph grd gtalk h323 ham hcap hcp help http https hxxp
    hxxps hydrazone hyper iax icap icon ilstring im imap info intent iotdisco ipfs ipn ipns ipp ipps irc irc6 ircs
    iris iris.beep iris.lwz iris.xpc iris.xpcs isostore itms itms-apps itms-services jabber jar javascript jms
    keyparc lastfm lbry ldap ldaps leaptofrogans livescript lorawan lpa lvlt magnet mailserver mailto maps market
    matrix message microsoft.windows.camera microsoft.windows.camera.multipicker
    microsoft.windows.camera.picker mid mms mocha modem mongodb moz moz-extension ms-access ms-appinstaller
    ms-appx ms-appx-web ms-browser-extension ms-excel ms-eyecontrolspeech ms-gamebarservices ms-help ms-infopath
    ms-inputapp ms-its ms-msdt ms-officeapp ms-people ms-powerpoint ms-project ms-publisher ms-search
    ms-search-repair ms-secondary-screen-controller ms-settings ms-spd ms-stickers ms-visio ms-walk-to ms-whiteboard
    ms-windows-store ms-word msnim msrp msrps mss mt mtqp mumble mupdate mvn mvrp mvrps news nfs ni nih nntp
    notes num ocf oid onenote opaquelocktoken openid openpgp4fpr otpauth p1 pack palm paparazzi payment payto
    pkcs11 platform pop pres prospero proxy psyc pttp pwid qb query quic-transport redis rediss reload res resource
    rmi rsync rtmfp rtmp rtsp rtsps rtspu sarif script secondlife secret-token service session sftp sgn shc shell
    shelter shortcuts shttp sieve simpleledger simplex sip sips skype smb smp sms smsto smtp snews snmp soap.beep
    soap.beeps soldat spiffe spotify ssb ssh starknet steam stun stuns submit svn swh swid swidpath tag taler
    teamspeak teapot teapots tel teliaeid telnet tftp things thismessage thzp tip tn3270 tool turn turns tv udp
    unreal upn upt urn ut2004 uuid-in-package v-event vbs vbscript vemmi ventrilo ves videotex view-source vnc
    vsls w3 wais wasm wasm-js wbs web+ap web3 webcal webtransport wpid ws wss wtai
    wyciwyg xcon xcon-userid xfire xftp xmlrpc.beep xmlrpc.beeps xmpp xri ymsgr z39.50 z39.50r z39.50s
    """
}
