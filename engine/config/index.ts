/** Configuration: svc.yaml, the environment and the machine home as one checked value. */

export { formatAddress, isLoopback, parseAddress } from '../core/base/values/address.ts';
export { parseDuration } from '../core/base/values/duration.ts';
export { parseVariableNames } from '../core/base/values/variable.ts';
export { findWorkspace } from '../core/workspace/find.ts';
export { resolveMachineHome } from '../core/workspace/machine-home.ts';
export { listConsentKeys } from './consent.ts';
export { buildConsentView } from './consent-view.ts';
export { consentMissingForStart, listPendingLines } from './consent-words.ts';
export {
  agreeToFile,
  findMapKey,
  readConfigText,
  replaceFile,
  resolveKeyPath,
  setKey,
  writeConfig,
} from './edit.ts';
export { ENVIRONMENT, readEnvironmentFlag } from './environment.ts';
export { renderConfigMarkdown, renderExampleYaml, renderStarterYaml } from './example.ts';
export { findActor, recordFirstUse } from './first-use.ts';
export { findFreeAddresses } from './free-addresses.ts';
export { createSecretLookup, readHome, type SecretLookup } from './home.ts';
export { buildJsonSchema } from './json-schema.ts';
export { describeKeys, describePending } from './keys.ts';
export { getAt } from './layers.ts';
export {
  type DataPaths,
  type LoadedConfig,
  type LoadOptions,
  loadConfig,
  resolveDataPaths,
} from './load.ts';
export { maskSecrets } from './mask.ts';
export { findNearest, suggestName } from './nearest.ts';
export type { Config } from './schema.ts';
export {
  findSecrets,
  listReceiverSecrets,
  listSecrets,
  listSecretVariables,
  type NamedSecret,
} from './secrets.ts';
export { setYamlValue } from './text-edit.ts';
export { trustConfig } from './trust.ts';
