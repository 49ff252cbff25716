import typescript = require("typescript");
export = typescript;
