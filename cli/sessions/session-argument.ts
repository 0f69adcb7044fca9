import type { CompletionProposal } from '../command.ts';

/** Declares the argument that names a session. */
export const defineSessionArgument = <const P extends CompletionProposal>(completes: P) =>
  [{ name: 'session', about: 'session id, or a unique prefix', completes }] as const;
