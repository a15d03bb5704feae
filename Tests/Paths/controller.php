<?php
// A front controller that finds its route as CodeIgniter 3 does by default (REQUEST_URI): in the path behind its own name,
// or, where that is empty, in the query when it begins with a slash; and in parameters, as older frameworks do.
$parts = explode('?', $_SERVER['REQUEST_URI'], 2);
$route = preg_replace('#^/index\.php#', '', rawurldecode($parts[0]));
$query = $parts[1] ?? '';
if (trim($route, '/') === '' && strncmp($query, '/', 1) === 0) {
  $route = rawurldecode(explode('?', $query, 2)[0]);
}
foreach (['r', 'q', 'route', 'rest_route'] as $name) {
  if (trim($route, '/') === '' && is_string($_GET[$name] ?? null)) $route = $_GET[$name];
}
$segments = array_values(array_filter(explode('/', $route), fn ($segment) => $segment !== ''));
$isEndpoint = ($segments[0] ?? '') === 'oauth' && in_array($segments[1] ?? '', ['token', 'authorize'], true);
header('Content-Type: text/plain');
echo $isEndpoint ? 'HANDLER=' . $segments[1] : 'other';
return true;
