use Mojolicious::Lite -signatures;

# Routes detect formats, as older versions of the framework do by default, and also match all paths below them.
any '/oauth/token/*rest' => [format => 1] => {rest => '', format => undef} => sub ($c) { $c->render(text => 'HANDLER=token') };
any '/oauth/authorize/*rest' => [format => 1] => {rest => '', format => undef} => sub ($c) { $c->render(text => 'HANDLER=authorize') };
any '/*rest' => {rest => ''} => sub ($c) { $c->render(text => 'other') };

app->start;
