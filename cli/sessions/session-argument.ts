import type { Proposal } from '../command.ts';

/** Declares the argument that names a session. */
export const defineSessionArgument = <const P extends Proposal>(completes: P) =>
  [{ name: 'session', about: 'session id, or a unique prefix', completes }] as const;
