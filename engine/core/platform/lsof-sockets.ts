import { runProgram } from '../base/run-program.ts';
import type { SocketOwners } from './platform.ts';

const TIMEOUT_MS = 10_000;

/** Lists the processes with TCP sockets of a port, each with the names of those: `127.0.0.1:80->127.0.0.1:4000`. */
async function listSockets(port: number, state: string): Promise<[pid: number, names: string[]][]> {
  const { stdout } = await runProgram('lsof', ['-nPw', '-a', `-iTCP:${port}`, `-sTCP:${state}`, '-Fpn'], {
    timeoutMs: TIMEOUT_MS,
  });
  return stdout
    .split(/^p/m)
    .slice(1)
    .map((process) => {
      const [pid = '', ...lines] = process.split('\n');
      return [Number(pid), lines.flatMap((line) => (line.startsWith('n') ? [line.slice(1)] : []))];
    });
}

const findPortOwners: SocketOwners['findPortOwners'] = async (port) =>
  (await listSockets(port, 'LISTEN'))
    .filter(([, names]) => names.some((name) => name.endsWith(`:${port}`)))
    .map(([pid]) => pid)
    .sort((one, other) => one - other);

/** Writes an address as lsof does: IPv6 in brackets, a mapped IPv4 address as itself. */
const formatEnd = (address: string, port: number): string => {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/, '');
  return `${plain.includes(':') ? `[${plain}]` : plain}:${port}`;
};

const findConnectionOwners: SocketOwners['findConnectionOwners'] = async ({
  remoteAddress = '',
  remotePort = -1,
  localAddress = '',
  localPort = -1,
}) => {
  if (remotePort < 0) return [];
  const name = `${formatEnd(remoteAddress, remotePort)}->${formatEnd(localAddress, localPort)}`;
  return (await listSockets(remotePort, 'ESTABLISHED'))
    .filter(([, names]) => names.includes(name))
    .map(([pid]) => pid);
};

/** Finds the owners of sockets by `lsof`. */
export const lsofSockets: SocketOwners = { findPortOwners, findConnectionOwners };
