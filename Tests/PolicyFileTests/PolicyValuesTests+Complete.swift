extension PolicyValuesTests {
  /// A policy with a server on a Unix socket.
  static let onUnixSocket = FindingCase.base.replacing(
    "url: http://127.0.0.1:9000",
    with: "url: unix:/run/legacy.sock\n  tls: { server_name: legacy.example.com, ca: server-ca.pem }")

  /// The complete policy with a client that lists its schemes.
  static var withListedSchemes: String {
    complete.replacing("schemes: strict", with: "schemes: [com.example.mail, cursor]")
  }

  /// A policy with three servers.
  static func withSeveralServers(_ affinity: String) -> String {
    onUnixSocket.replacing(
      "url: unix:/run/legacy.sock",
      with: "urls: ['https://a.example.com', 'unix:/run/legacy.sock', 'https://b.example.com:8443']\n"
        + "  affinity: \(affinity)\n  failure_statuses: []\n  failure_count: 9")
  }

  /// A value for every setting that is not plain, and for many others.
  static let complete = """
    version: 1
    gateway:
      origin: https://id.example.com:8443
      issuer: https://id.example.com:8443/tenant/
      listeners:
        - address: 0.0.0.0:8080
          proxy_protocol: true
        - { address: "unix:/run/proofgate.sock", owner: "proofgate:www-data", mode: "0666", local: true }
        - address: "[::1]:8443"
          tls:
            certificate: gateway.pem
            private_key: gateway.key
            certificates: [{ certificate: other.pem, private_key: other.key }]
            min_version: 1.3
            ciphers: [TLS_AES_128_GCM_SHA256, ECDHE-RSA-AES128-GCM-SHA256]
            client_ca: client-ca.pem
            client_certificate: request
            handshake_timeout: 3s
      http2: false
      half_close: serve
      tcp_keepalive: 30s
      tcp_user_timeout: 20s
      admin: off
      admin_hosts: gw.example.com
      workers: 2
      replicas: 3
      sealing_keys: { file: keys }
      store: redis://127.0.0.1:6379/0
      trusted_proxies: [10.0.0.0/8, "fd00::/8", 192.0.2.1, unix]
      drain_delay: 5s
      drain_timeout: 1m
      branding: { name: Example, support_url: https://example.com/help }
      metadata: mirrored
      metadata_lifetime: 5m
      log_spool: lines.spool
      scopes_supported: [profile, mail]
      cors_origins: https://app.example.com
      access_log:
        to: { syslog: /dev/log, facility: local3, severity: notice }
        fields: [time, status]
        sample: 10
      strict_transport_security: { max_age: 24h, include_subdomains: true }
      limits:
        header_bytes: 8KiB
        header_fields: 50
        response_header_bytes: 8KiB
        response_header_fields: 40
        target_length: 4KiB
        body: 32KiB
        request_buffer: 64KiB
        request_copy: 128KiB
        header_timeout: 5s
        body_timeout: 30s
        tunnel_timeout: 1h
        idle_timeout: 1m
        request_timeout: 10m
        minimum_rate: 1KiB
        connections: 1000
        connections_per_address: 100
        requests_per_address: 80
        requests_per_connection: 500
        concurrent_streams: 50
        stream_resets: 20
        control_frames: 200
        max_buffer_memory: 64MiB
        token_requests_per_client: 600
        token_requests_per_address: off
        registrations_per_network: 50000
        registrations: off
    upstream:
      url: https://legacy.example.com
      host: Id.Example.com:8443
      endpoints:
        authorization: [/authorize, /v1/authorize]
        token: /token
        revocation: /revoke
        introspection: /introspect
        pushed_authorization: /par
        device_authorization: /device
        registration: /register
        metadata: /.well-known/openid-configuration
      callback: network
      callback_risk: accepted
      pass: [/login, /static/]
      not_endpoints: [/token_key, /token/*]
      completion_paths: [/login]
      health_check: { path: /health, interval: 30s, timeout: 5s, statuses: [200, 204], failures: 4, successes: 3 }
      state_limit: 1KiB
      code_lifetime: 2m
      cross_site_login: true
      early_hints: true
      forward_trailers: true
      pkce: forward
      scopes: { drop: [openid, offline_access], default: [basic, mail], add: legacy }
      parameters: [audience, tenant]
      response_parameters: [realmId, accounts-server]
      errors: { OAuthException: invalid_grant, 190: invalid_client, 400: invalid_request }
      max_connections: 64
      reserved_connections: 4
      connect_timeout: 250ms
      response_timeout: 2m
      tcp_keepalive: 5m
      tcp_user_timeout: 40s
      upgrades: websocket
      strip_headers: [X-Badge, x-sso2-*]
      keep_headers: iv-lang
      tls: { ca: server-ca.pem, server_name: Inner.example, certificate: client.pem, private_key: client.key, min_version: 1.3 }
    enforcement:
      mode: observe
      unknown_clients: observe
      unlisted_oauth: observe
      redirects: [private_use, loopback]
      pkce_methods: [S256, plain]
      pkce_syntax: lenient
      state: require
      localhost: any_port
      schemes: minimum
      embedded_user_agents: block
      code_lifetime: 2m
      device_code_lifetime: 15m
      refresh_reuse_window: 10s
      refresh_idle: 720h
      raw_refresh_until: 2027-03-31
      pushed_authorization: optional
      fragment_guard: true
      consent_remembered: 1h
      profile: oauth_2_1
    clients:
      - id: com.example.mail
        name: Example Mail
        type: public
        application: native
        platform: ios
        redirect_uris: [com.example.mail:/callback, "http://127.0.0.1/callback"]
        grants: [authorization_code, device_code]
        pkce: required
        pkce_methods: [S256]
        pkce_syntax: strict
        response_modes: [query, fragment]
        mode: enforce
        state: off
        localhost: exact
        schemes: strict
        embedded_user_agents: report
        code_lifetime: 30s
        device_code_lifetime: 5m
        refresh_reuse_window: 5s
        refresh_reuse_networks: any
        accept_old_version_until: 2028-02-29
        refresh_idle: 1h
        raw_refresh_until: 2028-02-29
        pushed_authorization: required
        fragment_guard: false
        consent_remembered: 2h
        profile: standard
        consent: upstream
        upstream:
          client_id: legacy-mail
          client_secret: { env: LEGACY_SECRET }
          authentication: post
          redirect_uri: https://legacy.example.com/callback
      - id: web
        type: confidential
        application: web
        redirect_uris: [https://web.example.com/callback]
        pkce: optional
        relies_on_nonce: true
        trusted: false
        secret: { file: secret }
        upstream: { client_id: legacy-web, scopes: { drop: [], default: profile } }
    """
}
