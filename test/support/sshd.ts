import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { HostAddress } from '../../engine/fleet/hosts/index.ts';
import { findFreePort } from './free-port.ts';
import { settled } from './wait.ts';
import { temporaryFolder } from './workspaces/git.ts';

const SSHD = '/usr/sbin/sshd';
const SSH = '/usr/bin/ssh';
const KEYGEN = '/usr/bin/ssh-keygen';

/** Why no ssh server can be started here; false if one can. */
export const NO_SSHD: string | false =
  ![SSHD, SSH, KEYGEN].every((file) => existsSync(file)) && 'openssh-server is not installed';

/** Why this shell cannot be tested here; false if it can. */
export const missingShell = (path: string): string | false => !existsSync(path) && `${path} is not installed`;

/** A machine of the test, reached by a real sshd: this system with a separate home. */
export interface TestHost {
  /** Its home, empty at first. */
  home: string;
  /** The folder with keys and configurations of ssh. */
  folder: string;
  /** The address by a command that runs ssh with its configuration. */
  address: HostAddress;
  /** Hosts of the configuration: `box`, `stranger` (unknown host key), `locked` (asks for a password), `closed`, `nowhere`. */
  viaFor(name: string): HostAddress;
  /** An environment whose `ssh` uses the configuration. */
  environment: NodeJS.ProcessEnv;
  port: number;
  stop(): Promise<void>;
}

export interface TestHostOptions {
  /** The login shell; default `/bin/bash`. */
  shell?: string;
  /** Variables that the host gives its logins, e.g. PATH. */
  variables?: Record<string, string>;
  /** The address at which it listens; default `127.0.0.1`. */
  listen?: string;
  /** Words before the command that starts it, e.g. those of another network. */
  prefix?: readonly string[];
}

const makeKey = (file: string): void => {
  execFileSync(KEYGEN, ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
};

/** Writes what sshd runs for each login: the person's shell with the host's own environment. */
function writeLogin(
  file: string,
  home: string,
  { shell = '/bin/bash', variables = {} }: TestHostOptions,
): void {
  const all = { HOME: home, SHELL: shell, PATH: '/usr/local/bin:/usr/bin:/bin', ...variables };
  const words = Object.entries(all).map(([name, value]) => `'${name}=${value}'`);
  writeFileSync(
    file,
    // With SSH_CLIENT bash reads .bashrc, as for any login by ssh.
    `#!/bin/sh\ncd '${home}'\nexec env -i ${words.join(' ')} "SSH_CLIENT=$SSH_CLIENT" '${shell}' -c "$SSH_ORIGINAL_COMMAND"\n`,
  );
  chmodSync(file, 0o755);
}

function writeClientConfig(folder: string, listen: string, port: number): string {
  const { username } = userInfo();
  const config = join(folder, 'config');
  const host = (name: string, lines: readonly string[]): string =>
    [`Host ${name}`, ...lines.map((line) => `  ${line}`)].join('\n');
  const key = `IdentityFile ${join(folder, 'id')}`;
  const known = `UserKnownHostsFile ${join(folder, 'known_hosts')}`;
  const all = [
    host('box', [key, known]),
    host('stranger', [key, 'UserKnownHostsFile /dev/null']),
    host('locked', ['IdentityFile /dev/null', known]),
    host('closed', [key, known, 'Port 1']),
    host('nowhere', [key, 'HostName nowhere.invalid']),
    host('*', [
      `HostName ${listen}`,
      `Port ${port}`,
      `User ${username}`,
      'IdentitiesOnly yes',
      'IdentityAgent none',
      'BatchMode yes',
      'GlobalKnownHostsFile /dev/null',
    ]),
  ];
  writeFileSync(config, `${all.join('\n')}\n`);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  // It notes its words, so that tests see the options.
  writeFileSync(
    join(bin, 'ssh'),
    `#!/bin/sh\nprintf '%s\\n' "$@" >'${join(folder, 'ssh-words')}'\nexec ${SSH} -F '${config}' "$@"\n`,
  );
  chmodSync(join(bin, 'ssh'), 0o755);
  return config;
}

/** Starts a throwaway sshd on a free port, for this user. */
export async function startTestHost(options: TestHostOptions = {}): Promise<TestHost> {
  const { listen = '127.0.0.1', prefix = [] } = options;
  const folder = temporaryFolder('svc-sshd-');
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  const port = await findFreePort();
  for (const name of ['id', 'host-key']) makeKey(join(folder, name));
  const hostKey = readFileSync(join(folder, 'host-key.pub'), 'utf8');
  writeFileSync(join(folder, 'known_hosts'), `[${listen}]:${port} ${hostKey}`);
  writeLogin(join(folder, 'login'), home, options);
  const config = writeClientConfig(folder, listen, port);
  const settings = [
    `ListenAddress ${listen}`,
    `Port ${port}`,
    `HostKey ${join(folder, 'host-key')}`,
    `AuthorizedKeysFile ${join(folder, 'id.pub')}`,
    'StrictModes no',
    'UsePAM no',
    'PidFile none',
    'PermitRootLogin yes',
    'PasswordAuthentication yes',
    'MaxStartups 100',
    `ForceCommand ${join(folder, 'login')}`,
  ];
  writeFileSync(join(folder, 'sshd_config'), `${settings.join('\n')}\n`);
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const [program = SSHD, ...words] = [...prefix, SSHD, '-D', '-e', '-f', join(folder, 'sshd_config')];
  const server = spawn(program, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  const listening = new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (chunk: Buffer) => {
      log = `${log}${chunk}`.slice(-4000);
      if (log.includes(`listening on ${listen} port ${port}`)) resolve();
    });
    server.once('exit', () => reject(new Error(`sshd has ended: ${log}`)));
  });
  await settled(listening, 'sshd');
  const viaFor = (name: string): HostAddress => ({ host: name, via: `${SSH} -F ${config} ${name}` });
  return {
    home,
    folder,
    address: viaFor('box'),
    viaFor,
    environment: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` },
    port,
    async stop() {
      const ended = once(server, 'exit');
      server.kill();
      await ended;
    },
  };
}
