// Validates SARIF files against the standard's JSON schema and prints what is wrong, as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import Ajv from "ajv";

const require = createRequire(import.meta.url);
const schema = require("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
const ajv = new Ajv({ schemaId: "auto", allErrors: true });
ajv.addMetaSchema(require("ajv/lib/refs/json-schema-draft-04.json"));
const valid = ajv.compile(schema);
const found = [];
for (const file of process.argv.slice(2)) {
  valid(JSON.parse(readFileSync(file, "utf8")));
  found.push((valid.errors ?? []).map(({ dataPath, message }) => `${dataPath} ${message}`));
}
console.log(JSON.stringify(found));
