export { inspectHost } from './inspect/inspect-host.ts';
export type { WantedAgent } from './inspect/inspect-script.ts';
export type { HostAgent, HostFacts } from './inspect/parse-facts.ts';
export { type InstalledProgram, installProgram } from './install/install-program.ts';
export { removeProgram } from './install/remove-program.ts';
export { checkHost, type HostAddress } from './transport/address.ts';
export { type HostOptions, type HostProcess, openOnHost } from './transport/open-on-host.ts';
export { type HostResult, type RunOnHostOptions, runOnHost } from './transport/run-on-host.ts';
