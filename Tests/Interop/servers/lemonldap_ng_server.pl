# A legacy OpenID provider: the portal of LemonLDAP::NG 2.16 with the files of Debian's packages below ROOT, which are not
# installed. All its data (configuration, sessions, codes, tokens, cache) is in a folder of this process. Each client id is
# that of a confidential client with the web redirect URIs, the same secret, and refresh tokens that end with the user's session.
#
# Its behaviour: a request without `openid` is refused. The login form posts to the authorization URL, and the response
# redirects to `/oauth2`, where the portal continues with the request that a cookie names. The consent form posts to the
# authorization endpoint; a script sends the refusal. After the first grant, the same client, user and scope need no consent.
# Errors of the authorization request are pages with status 200. It announces PKCE, and checks verifiers only of clients that
# must use it. The client authenticates with fields of the body, or with HTTP Basic, whose content it does not form-decode.
#
# Usage: lemonldap_ng_server.pl ROOT REDIRECT_URIS [ISSUER SIGNING_KEY CLIENT_ID...], the URIs separated by spaces
# The first line of the output is the port.

use strict;
use warnings;

my ( $root, $redirect_uri, $issuer, $signing_key, @client_ids );

BEGIN {
    ( $root, $redirect_uri, $issuer, $signing_key, @client_ids ) = @ARGV;
    die "usage: lemonldap_ng_server.pl ROOT REDIRECT_URIS [ISSUER SIGNING_KEY CLIENT_ID...]\n" unless $redirect_uri;
    @client_ids = ( 'legacy-web', grep { $_ ne 'legacy-web' } @client_ids );
}
use lib "$root/usr/share/perl5";

use Crypt::OpenSSL::RSA;
use File::Temp;
use HTTP::Server::PSGI;
use IO::Socket::INET;
use JSON qw(decode_json encode_json);
use URI::Escape qw(uri_escape);

my %users  = ( ada => 'correct horse' );
my $secret = 'legacy secret/+&%';

# The accounts of this server: a module for authentication, as LemonLDAP::NG lets operators add, and one for attributes.
package Lemonldap::NG::Portal::Auth::Accounts;
use Mouse;
use Lemonldap::NG::Portal::Main::Constants qw(PE_OK PE_BADCREDENTIALS);
extends 'Lemonldap::NG::Portal::Auth::_WebForm';

sub authenticate {
    my ( $self, $req ) = @_;
    my $password = $users{ $req->{user} };
    return PE_OK if defined $password and $password eq $req->data->{password};
    $self->setSecurity($req);
    return PE_BADCREDENTIALS;
}

sub authLogout { return PE_OK }

package Lemonldap::NG::Portal::UserDB::Accounts;
use Mouse;
use Lemonldap::NG::Portal::Main::Constants qw(PE_OK PE_BADCREDENTIALS);
extends 'Lemonldap::NG::Common::Module';

sub init { return 1 }

sub getUser { return exists $users{ $_[1]->user } ? PE_OK : PE_BADCREDENTIALS }

sub setSessionInfo {
    my ( $self, $req ) = @_;
    $req->{sessionInfo}->{uid} = $req->user;
    return PE_OK;
}

sub setGroups { return PE_OK }

# In place of the module that draws pictures. No form of this server has a captcha.
package Lemonldap::NG::Portal::Captcha::None;
use Mouse;
extends 'Lemonldap::NG::Common::Module';

sub init { return 1 }

package main;
$INC{"Lemonldap/NG/Portal/$_.pm"} = __FILE__ for qw(Auth/Accounts UserDB/Accounts Captcha/None);

# Returns the configuration of the portal; $folder is that of its data, and $origin its address in the browser.
sub configuration {
    my ( $folder, $origin ) = @_;
    my $key =
      $signing_key ? Crypt::OpenSSL::RSA->new_private_key( read_file($signing_key) ) : Crypt::OpenSSL::RSA->generate_key(2048);
    my ($host) = $origin =~ m{^https?://([^/:]+)};
    my ( %options, %exported );
    for my $id (@client_ids) {
        $options{$id} = {
            oidcRPMetaDataOptionsClientID       => $id,
            oidcRPMetaDataOptionsClientSecret   => $secret,
            oidcRPMetaDataOptionsDisplayName    => "Example for $id",
            oidcRPMetaDataOptionsRedirectUris   => $redirect_uri,
            oidcRPMetaDataOptionsIDTokenSignAlg => 'RS256',
            oidcRPMetaDataOptionsRefreshToken   => 1,
            oidcRPMetaDataOptionsBypassConsent  => 0,
        };
        $exported{$id} = { name => 'uid' };
    }
    return {
        cfgNum               => 1,
        cfgAuthor            => 'test',
        cfgDate              => time,
        key                  => join( '', map { ( 'a' .. 'z' )[ rand 26 ] } 1 .. 16 ),
        portal               => "$origin/",
        domain               => $host,
        locationRules        => {},
        authentication       => 'Custom',
        customAuth           => '::Auth::Accounts',
        userDB               => 'Custom',
        customUserDB         => '::UserDB::Accounts',
        passwordDB           => 'Null',
        captcha              => '::Captcha::None',
        securedCookie        => $origin =~ /^https/ ? 1 : 0,
        globalStorage        => 'Apache::Session::File',
        globalStorageOptions => {
            Directory      => "$folder/sessions",
            LockDirectory  => "$folder/lock",
            generateModule => 'Lemonldap::NG::Common::Apache::Session::Generate::SHA256',
        },
        localSessionStorage        => 'Cache::FileCache',
        localSessionStorageOptions => {
            namespace          => 'sessions',
            default_expires_in => 600,
            cache_root         => "$folder/cache",
            cache_depth        => 3,
        },
        issuerDBOpenIDConnectActivation => 1,
        oidcServiceMetaDataIssuer       => $issuer // "$origin/",
        oidcServicePrivateKeySig        => $key->get_private_key_string,
        oidcServicePublicKeySig         => $key->get_public_key_x509_string,
        oidcServiceKeyIdSig             => 'interop',
        oidcRPMetaDataOptions           => \%options,
        oidcRPMetaDataExportedVars      => \%exported,
    };
}

# Writes the configuration to $folder, and the file that says where it is.
sub configure {
    my ( $folder, $origin ) = @_;
    mkdir "$folder/$_" or die "$folder/$_: $!\n" for qw(conf sessions lock cache);
    write_file( "$folder/conf/lmConf-1.json", encode_json( configuration( $folder, $origin ) ) );
    write_file( "$folder/lemonldap-ng.ini", <<"INI");
[all]
logLevel = warn
[configuration]
type = File
dirName = $folder/conf
localStorage = Cache::FileCache
localStorageOptions = { 'namespace' => 'configuration', 'cache_root' => '$folder/cache', 'cache_depth' => 3 }
[portal]
staticPrefix = /static
templateDir = $root/usr/share/lemonldap-ng/portal/templates
languages = en
INI
    $ENV{LLNG_DEFAULTCONFFILE} = "$folder/lemonldap-ng.ini";
}

sub read_file {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    return do { local $/; <$file> };
}

sub write_file {
    my ( $path, $text ) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
}

# Answers a request for /api/me: the resource server, which asks the provider about the token (RFC 7662).
sub resource {
    my ( $portal, $env ) = @_;
    my ($token) = ( $env->{HTTP_AUTHORIZATION} // '' ) =~ /^Bearer ([\w.~+\/=-]+)$/i;
    return [ 401, [ 'WWW-Authenticate' => 'Bearer' ], [] ] unless $token;
    my $body = "client_id=$client_ids[0]&client_secret=" . uri_escape($secret) . '&token=' . uri_escape($token);
    open my $input, '<', \$body;
    my %request = map { $_ => $env->{$_} } grep { !/^HTTP_|^CONTENT/ } keys %$env;
    my $answer = $portal->(
        {
            %request,
            REQUEST_METHOD => 'POST',
            REQUEST_URI    => '/oauth2/introspect',
            PATH_INFO      => '/oauth2/introspect',
            QUERY_STRING   => '',
            CONTENT_TYPE   => 'application/x-www-form-urlencoded',
            CONTENT_LENGTH => length $body,
            HTTP_HOST      => $env->{HTTP_HOST},
            HTTP_ACCEPT    => 'application/json',
            'psgi.input'   => $input,
        }
    );
    my $found = decode_json( join '', @{ $answer->[2] } );
    return [ 401, [ 'WWW-Authenticate' => 'Bearer error="invalid_token"' ], [] ] unless $found->{active};
    my $json = encode_json( { user => $found->{sub}, scope => $found->{scope}, client_id => $found->{client_id} } );
    return [ 200, [ 'Content-Type' => 'application/json' ], [$json] ];
}

my $folder = File::Temp->newdir( 'lemonldap-ng-XXXXXX', TMPDIR => 1 );
my $listener = IO::Socket::INET->new( LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 128, Proto => 'tcp' )
  or die "cannot listen: $!\n";
# With an issuer, the gateway has the origin of the redirect URI. Without it, the browser comes directly.
my ($origin) = $issuer ? $redirect_uri =~ m{^(https?://[^/]+)} : 'http://127.0.0.1:' . $listener->sockport;
configure( $folder, $origin );
require Lemonldap::NG::Portal::Main;
my $portal = Lemonldap::NG::Portal::Main->run( {} );
# Removes the folder. Here, because the portal sets handlers of its own.
$SIG{TERM} = sub { exit 143 };
$| = 1;
print $listener->sockport, "\n";
HTTP::Server::PSGI->new( listen_sock => $listener, host => '127.0.0.1', port => $listener->sockport )->run(
    sub {
        my ($env) = @_;
        return $env->{PATH_INFO} eq '/api/me' ? resource( $portal, $env ) : $portal->($env);
    }
);
