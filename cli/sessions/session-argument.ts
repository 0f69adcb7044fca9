import type { CompletionProposal } from '../command.ts';

/** Declares the argument that names a session. */
export const defineSessionArgument = <const P extends CompletionProposal>(completes: P) =>
  [{ name: 'session', about: 'session (s-12) or its task (t-11)', completes }] as const;
