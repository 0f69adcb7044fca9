import { SvcError } from '../core/base/errors.ts';
import type { SignedHeaders } from '../core/http/signature.ts';

/** The workspace that a receiver belongs to. */
export interface ReceiverWorkspace {
  /** The id of its data folder, which no two workspaces share. */
  id: string;
  name(): string;
}

/**
 * Header that names a workspace: its id, a space, and its percent-encoded name. A sender may use it to name the
 * intended workspace, and every answer to a signed request carries it, since two workspaces may take turns on one
 * address with the same secret.
 */
export const WORKSPACE_HEADER = 'X-Svc-Workspace';

export const formatWorkspaceHeader = ({ id, name }: { id: string; name: string }): string =>
  `${id} ${encodeURIComponent(name)}`;

/** Reads the name from the header; null when it has none. */
export function parseWorkspaceName(header: string | null): string | null {
  try {
    return decodeURIComponent(header?.split(' ')[1] ?? '') || null;
  } catch {
    return null;
  }
}

/**
 * Refuses a request meant for another workspace. Runs after the signature is verified, so strangers learn no name, and
 * before anything about the request is recorded. Throws `conflict`.
 */
export function checkWorkspace(workspace: ReceiverWorkspace, headers: SignedHeaders): void {
  const wanted = headers[WORKSPACE_HEADER.toLowerCase()];
  if (typeof wanted !== 'string' || wanted.split(' ', 1)[0] === workspace.id) return;
  const other = parseWorkspaceName(wanted);
  const isNamesake = other === workspace.name();
  throw new SvcError(
    'conflict',
    `this receiver belongs to workspace ${workspace.name()}, but the request is for ${
      other === null ? 'another one' : isNamesake ? 'another one of that name' : `workspace ${other}`
    }`,
    { hint: 'give each workspace its own ui.addr; svc status shows why a receiver is off' },
  );
}
