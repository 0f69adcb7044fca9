/** Configuration: svc.yaml, the environment and the machine home as one checked value. */

export { type Address, formatAddress, isLoopback, parseAddress } from '../base/values/address.ts';
export { parseDuration } from '../base/values/duration.ts';
export { variableNames } from '../base/values/variable.ts';
export { findWorkspace } from '../workspace/find.ts';
export { machineHome } from '../workspace/machine-home.ts';
export {
  type Agreement,
  type ConfigConsent,
  consentKeys,
  type PendingKey,
  recordAgreement,
} from './consent.ts';
export { type ConsentView, consentView } from './consent-view.ts';
export { type DifferenceLine, pendingLines, startsNothing } from './consent-words.ts';
export {
  agreeToFile,
  configText,
  keyPath,
  mapOf,
  parseValue,
  replaceFile,
  setKey,
  textWithKey,
  writeConfig,
} from './edit.ts';
export { ENVIRONMENT, environmentFlag, type Variable } from './environment.ts';
export { configMarkdown, exampleYaml, type Starter, starterYaml } from './example.ts';
export { actorOf, noteFirstUse } from './first-use.ts';
export { type FreeAddresses, freeAddresses } from './free-addresses.ts';
export { type Home, readHome, type SecretLookup, secretLookup } from './home.ts';
export { configJsonSchema } from './json-schema.ts';
export { describeKeys, type KeyInfo, pendingWords } from './keys.ts';
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
export { nearest, suggestion } from './nearest.ts';
export type { Problem } from './problems.ts';
export { type Config, configSchema } from './schema.ts';
export {
  type NamedSecret,
  namedSecrets,
  receiverSecrets,
  secretsIn,
  secretVariables,
} from './secrets.ts';
export { setInText } from './text-edit.ts';
export { type Trust, trustConfig } from './trust.ts';
export type { ProjectEntry } from './workspace.ts';
