import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** sun_path is 108 bytes on Linux and 104 on macOS, with its terminating zero; five are the host's own suffix. */
const MAX_SOCKET_PATH = 98;

/** The socket in the data folder, or where that is too deep one in a private folder under the temporary one. */
export function socketPath(wanted: string): string {
  if (Buffer.byteLength(wanted) <= MAX_SOCKET_PATH) return wanted;
  return `${aside(wanted)}.sock`;
}

/** A folder that a socket fits into: the one wanted, or where that is too deep one under the temporary folder. */
export const socketFolder = (wanted: string): string =>
  Buffer.byteLength(join(wanted, 'svc.sock')) <= MAX_SOCKET_PATH ? wanted : aside(wanted);

function aside(wanted: string): string {
  // Not imported: every command would load it, for a path that few have.
  const name = process.getBuiltinModule('node:crypto').hash('sha256', wanted).slice(0, 16);
  return join(tmpdir(), `svc-${userInfo().uid}`, name);
}
