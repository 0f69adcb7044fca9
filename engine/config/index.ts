/** Configuration: svc.yaml, the environment and the machine home as one checked value. */

export { type Address, formatAddress, isLoopback, parseAddress } from '../base/values/address.ts';
export { parseDuration } from '../base/values/duration.ts';
export { parseVariableNames } from '../base/values/variable.ts';
export { findListenProblem } from '../http/listen.ts';
export { findWorkspace } from '../workspace/find.ts';
export { resolveMachineHome } from '../workspace/machine-home.ts';
export {
  type Agreement,
  type ConfigConsent,
  listConsentKeys,
  type PendingKey,
  recordAgreement,
} from './consent.ts';
export { buildConsentView, type ConsentView } from './consent-view.ts';
export { consentMissingForStart, type DifferenceLine, listPendingLines } from './consent-words.ts';
export {
  agreeToFile,
  findMapKey,
  parseKeyValue,
  readConfigText,
  renderWithKey,
  replaceFile,
  resolveKeyPath,
  setKey,
  writeConfig,
} from './edit.ts';
export { ENVIRONMENT, readEnvironmentFlag, type Variable } from './environment.ts';
export { renderConfigMarkdown, renderExampleYaml, renderStarterYaml, type Starter } from './example.ts';
export { findActor, recordFirstUse } from './first-use.ts';
export { type FreeAddresses, findFreeAddresses } from './free-addresses.ts';
export { createSecretLookup, type Home, readHome, type SecretLookup } from './home.ts';
export { buildJsonSchema } from './json-schema.ts';
export { describeKeys, describePending, type KeyInfo } from './keys.ts';
export { getAt } from './layers.ts';
export {
  type ConfigSource,
  type DataPaths,
  type Loaded,
  type LoadOptions,
  loadConfig,
  resolveDataPaths,
} from './load.ts';
export { maskSecrets } from './mask.ts';
export { findNearest, suggestName } from './nearest.ts';
export type { Problem } from './problems.ts';
export { type Config, configSchema } from './schema.ts';
export {
  findSecrets,
  listReceiverSecrets,
  listSecrets,
  listSecretVariables,
  type NamedSecret,
} from './secrets.ts';
export { setYamlValue } from './text-edit.ts';
export { type Trust, trustConfig } from './trust.ts';
export type { ProjectEntry } from './workspace.ts';
