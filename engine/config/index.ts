/** Configuration: svc.yaml, the environment and the machine home as one checked value. */
export { type Address, formatAddress, isLoopback, parseAddress } from './address.ts';
export { parseDuration } from './duration.ts';
export { keyPath, parseValue, replaceFile, setKey } from './edit.ts';
export { ENVIRONMENT, environmentFlag, type Variable } from './environment.ts';
export { configMarkdown, exampleYaml, type Starter, starterYaml } from './example.ts';
export { findWorkspace } from './find.ts';
export { type Home, machineHome, readHome, type SecretLookup, secretLookup } from './home.ts';
export { configJsonSchema } from './json-schema.ts';
export { describeKeys, type KeyInfo } from './keys.ts';
export { getAt } from './layers.ts';
export {
  type ConfigSource,
  type DataPaths,
  dataPaths,
  type Loaded,
  type LoadOptions,
  loadConfig,
} from './load.ts';
export { masked } from './mask.ts';
export { nearest } from './nearest.ts';
export type { Problem } from './problems.ts';
export { type Config, configSchema } from './schema.ts';
export {
  namedSecrets,
  type RouteSecrets,
  receiverSecrets,
  secretVariables,
} from './secrets.ts';
export { setInText } from './text-edit.ts';
export { variableNames } from './variable.ts';
export type { ProjectEntry } from './workspace.ts';
