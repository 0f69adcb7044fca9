import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { SvcError } from '../../../core/base/errors.ts';
import { findProgram } from '../../../core/base/find-program.ts';
import { signalGroup } from '../../../core/base/signal-group.ts';
import type { HostAddress } from './address.ts';

/** How a transport's process ended. */
export interface TransportEnd {
  code: number | null;
  signal: string | null;
  /** Its last 8 KiB. */
  stderr: string;
}

/** A running ssh, or the command that replaces it, which runs `sh` on the host. */
export interface Transport {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves once it and its group have ended; never rejects. */
  readonly ended: Promise<TransportEnd>;
  /** Ends it and all processes of its group: SIGTERM, after 2 s SIGKILL. */
  kill(): void;
}

const SSH_OPTIONS = [
  'BatchMode=yes',
  'ServerAliveInterval=5',
  'ServerAliveCountMax=3',
  // A master would outlive us, and other commands of the person's would end with it.
  'ControlMaster=no',
  // Settings of the person's for their own terminal: tunnels, keys lent to the host, a command in place of ours.
  ...['ClearAllForwardings=yes', 'ForwardAgent=no', 'ForwardX11=no', 'RemoteCommand=none'],
].flatMap((option) => ['-o', option]);

const GRACE_MS = 2000;
const KEPT_OF_STDERR = 8 * 1024;

/** Builds the local command. The remote one is a single word, which no shell on the way can misread. */
function buildCommand({ host, via }: HostAddress, environment: NodeJS.ProcessEnv): [string, string[]] {
  if (via !== null) return ['/bin/sh', ['-c', `${via} sh`]];
  const ssh = findProgram('ssh', { cwd: '/', path: environment.PATH });
  if (ssh === undefined)
    throw new SvcError('tool_missing', 'ssh was not found on PATH', {
      hint: 'install it (Debian: apt install openssh-client), or give another command with --via',
    });
  return [ssh, ['-T', ...SSH_OPTIONS, host, 'sh']];
}

/** Starts the transport. Rejects with `tool_missing`, `spawn_failed`. */
export async function startTransport(
  address: HostAddress,
  environment: NodeJS.ProcessEnv,
): Promise<Transport> {
  const [program, args] = buildCommand(address, environment);
  // A separate group, so that a pipeline of --via ends as a whole.
  const child = spawn(program, args, {
    cwd: '/',
    env: environment,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A broken pipe shows in `ended`.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => undefined);
  const transport = watchTransport(child);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) =>
      reject(
        new SvcError('spawn_failed', `${program} could not be started: ${error.message}`, { cause: error }),
      ),
    );
  });
  return transport;
}

function watchTransport(child: ChildProcessWithoutNullStreams): Transport {
  let stderr: Buffer = Buffer.alloc(0);
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = Buffer.from(Buffer.concat([stderr, chunk]).subarray(-KEPT_OF_STDERR));
  });
  let isEnded = false;
  let killTimer: NodeJS.Timeout | null = null;
  let drainTimer: NodeJS.Timeout | null = null;

  const ended = new Promise<TransportEnd>((resolve) => {
    child.once('exit', () => {
      // Something else may hold its pipes.
      drainTimer = setTimeout(() => {
        signalGroup(child.pid, 'SIGKILL');
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      }, GRACE_MS);
    });
    child.once('close', (code, signal) => {
      isEnded = true;
      if (killTimer !== null) clearTimeout(killTimer);
      if (drainTimer !== null) clearTimeout(drainTimer);
      // Now, because later the number may belong to another group.
      signalGroup(child.pid, 'SIGKILL');
      resolve({ code, signal, stderr: stderr.toString('utf8') });
    });
  });
  return {
    child,
    ended,
    kill() {
      if (isEnded || killTimer !== null) return;
      signalGroup(child.pid, 'SIGTERM');
      killTimer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), GRACE_MS);
    },
  };
}
