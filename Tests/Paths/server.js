// Routes as many small servers do: by the path of the URL as the platform parses it, decoded, without regard to case.
const http = require('node:http');

http.createServer((request, response) => {
  let path = '/';
  try {
    path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname).toLowerCase();
  } catch {}
  const found = /^\/oauth\/(token|authorize)(?:[\/;.]|$)/.exec(path.replace(/\/{2,}/g, '/'));
  request.resume();
  request.on('end', () => response.end(found ? `HANDLER=${found[1]}` : 'other'));
}).listen(Number(process.argv[2]), '127.0.0.1');
