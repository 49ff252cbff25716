// The compiler, loaded as the CommonJS module that it is. An `import` of it has Node read its nine megabytes once more, for
// the names of what it exports: half of what loading it costs, at the first check of every process.
const typescript = require("typescript");
module.exports = typescript;
