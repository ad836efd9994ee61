'use strict';
const fs = require('node:fs');
const path = require('node:path');

// The names of the built pages whose text matches.
function pagesOf(book, pattern) {
    const names = fs.readdirSync(book).filter((name) => name.endsWith('.html') && !['print.html', 'toc.html', '404.html'].includes(name));
    return names.filter((name) => fs.readFileSync(path.join(book, name), 'utf8').match(pattern)).map((name) => path.basename(name, '.html'));
}

module.exports = { pagesOf };
