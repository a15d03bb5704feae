"""A legacy authorization server with django-oauth-toolkit 1.2, oauthlib 2.1 and Django 2.2: all URLs of the library
below `/o/`, one confidential client with web redirect URIs. oauthlib 2 does not support PKCE.

Its behaviour: the paths end with a slash, the login page gets path and query of the authorization URL as `next`, the
consent form posts its parameters as hidden fields to the URL of its page, with a CSRF cookie, and the client
authenticates with HTTP Basic.

Usage: django_oauth_toolkit_server.py REDIRECT_URIS, separated by spaces; a single one may end with `*`
The first line of the output is the port.
"""

import os
import signal
import socketserver
import sys
import tempfile
from urllib.parse import urlsplit
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

# oauthlib otherwise refuses plain http; this server listens on loopback only.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

import django
from django.conf import settings

REDIRECT_URIS = sys.argv[1]
LOGIN = """<!doctype html><h1>Log in</h1><form method="post">{% csrf_token %}
{{ form.as_p }}<button type="submit">Log in</button></form>"""

folder = tempfile.TemporaryDirectory()
settings.configure(
    SECRET_KEY=os.urandom(16).hex(),
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    LOGIN_URL="/accounts/login/",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder.name + "/database"}},
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "oauth2_provider",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {
                "context_processors": ["django.template.context_processors.request"],
                "loaders": [
                    ("django.template.loaders.locmem.Loader", {"registration/login.html": LOGIN}),
                    "django.template.loaders.app_directories.Loader",
                ],
            },
        }
    ],
    OAUTH2_PROVIDER={
        "SCOPES": {"profile": "Your name", "notes": "Your notes"},
        "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https", urlsplit(REDIRECT_URIS).scheme],
    },
)
django.setup()

from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import include, path
from oauth2_provider.decorators import protected_resource
from oauth2_provider.models import AbstractApplication, AccessToken, Application

if REDIRECT_URIS.endswith("*"):
    # A `*` at the end matches any text, as with other legacy servers.
    AbstractApplication.redirect_uri_allowed = lambda self, uri: uri.startswith(REDIRECT_URIS[:-1])


@protected_resource(scopes=["profile"])
def me(request):
    token = AccessToken.objects.get(token=request.META["HTTP_AUTHORIZATION"].split()[1])
    return JsonResponse({"user": token.user.username, "scope": token.scope, "client_id": token.application.client_id})


urlpatterns = [
    path("accounts/login/", LoginView.as_view()),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("api/me", me),
]


class Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Handler(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    # Removes the folder of the database.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    call_command("migrate", verbosity=0)
    User.objects.create_user("ada", password="correct horse")
    Application.objects.create(
        name="Example on the web",
        client_id="legacy-web",
        client_secret="legacy-secret-of-the-server",
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=REDIRECT_URIS,
    )
    listener = make_server("127.0.0.1", 0, get_wsgi_application(), server_class=Server, handler_class=Handler)
    print(listener.server_port, flush=True)
    listener.serve_forever()
