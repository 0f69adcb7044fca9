/** Requests to code hosts as the person, without an engine. */
export { REPOSITORY_NAMES } from '../../forge/config.ts';
export { createForgeAccess, openForge } from '../../forge/index.ts';
export { formatCodehostActor, isCodehostLogin } from '../../receiver/sender.ts';
