import { SvcError } from '../base/errors.ts';
import type { Headers } from './request.ts';

/** Whose receiver this is. */
export interface ReceiverWorkspace {
  /** The id of its data folder, which no two workspaces share. */
  id: string;
  name(): string;
}

/**
 * A sender may say with it which workspace a request is for, and every answer to a signed request names the one that has
 * answered: its id, a blank, and its name percent-encoded. Two workspaces may have the same address and secret by turns.
 */
export const WORKSPACE_HEADER = 'X-Svc-Workspace';

export const formatWorkspaceHeader = ({ id, name }: { id: string; name: string }): string =>
  `${id} ${encodeURIComponent(name)}`;

/** The name in such a header; null for none. */
export function parseWorkspaceName(header: string | null): string | null {
  try {
    return decodeURIComponent(header?.split(' ')[1] ?? '') || null;
  } catch {
    return null;
  }
}

/**
 * Refuses a request that is for another workspace. Asked after its signature has held, so that strangers learn no name,
 * and before anything is remembered of it. Throws `conflict`.
 */
export function checkWorkspace(workspace: ReceiverWorkspace, headers: Headers): void {
  const wanted = headers[WORKSPACE_HEADER.toLowerCase()];
  if (typeof wanted !== 'string' || wanted.split(' ', 1)[0] === workspace.id) return;
  const other = parseWorkspaceName(wanted);
  const isNamesake = other === workspace.name();
  throw new SvcError(
    'conflict',
    `this receiver is that of workspace ${workspace.name()}, and the request is for ${
      other === null ? 'another one' : isNamesake ? 'another one of that name' : `workspace ${other}`
    }`,
    { hint: 'give each workspace a ui.addr of its own; svc status says why a receiver is off' },
  );
}
