import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { domainToASCII } from 'node:url';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { quoteForShell } from '../../../engine/core/base/text.ts';
import { linkedServer } from '../../../engine/index.ts';
import { defineCommand } from '../../command.ts';
import { getSvcCommand } from '../../self.ts';
import { nameServerFolder } from './server-folder.ts';
import { formatUnitCommand, quoteUnitWord } from './service-unit.ts';

const UNIT = 'svc-server';
const UNIT_FILE = `/etc/systemd/system/${UNIT}.service`;
const CADDY_MAIN = '/etc/caddy/Caddyfile';
const CADDY_FILE = `/etc/caddy/${UNIT}.caddy`;
const DATA = `/var/lib/${UNIT}`;

/** Secrets of the service, as NAME=VALUE lines. */
const SECRETS_FILE = `/etc/${UNIT}.env`;

const HOME_FOLDERS = /^\/(?:home|root|run\/user)(?:\/|$)/;
const TEMPORARY_FOLDERS = /^\/(?:tmp|var\/tmp)(?:\/|$)/;

interface Installation {
  /** The name of the server, in ASCII. */
  host: string;
  /** Its data folder. */
  data: string;
  /** The system user that runs it. */
  user: string;
}

const usage = (message: string, hint: string): SvcError => new SvcError('usage', message, { hint });

/** Checks a DNS name and returns it in ASCII. Throws `usage`. */
function readHostName(text: string): string {
  // An address, or what a browser would repair into one, is not a name.
  const isName = /^[\p{L}\p{N}\p{M}.-]+$/u.test(text);
  const name = isName ? domainToASCII(text) : '';
  const labels = name.split('.');
  if (
    isIP(name) !== 0 ||
    name.length > 253 ||
    !labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
  )
    throw usage(
      `invalid host name ${JSON.stringify(text)}`,
      'give only the name, without scheme, port or path, for example svc.example.org',
    );
  return name;
}

function readUserName(text: string): string {
  if (/^[a-z_][a-z0-9_-]{0,30}$/.test(text)) return text;
  throw usage(`invalid user name ${JSON.stringify(text)}`, 'a name of a system user looks like svc');
}

/** Checks a path of which systemd could make another one, however it is quoted. Throws `usage`. */
function checkUnitPath(path: string, of: string): void {
  if (/[\u0000-\u001f\u007f"'\\]/.test(path))
    throw usage(
      `${of} has a quote, backslash or control character in its path: ${JSON.stringify(path)}`,
      'systemd accepts no such path; use a folder with another name',
    );
}

/** Returns the first folder or file on the way to a path that other users cannot enter; null for none. */
function findClosed(path: string, user: string): string | null {
  if (user === userInfo().username) return null;
  const ways: string[] = [];
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) ways.unshift(at);
  return ways.find((folder) => (statSync(folder).mode & 0o001) === 0) ?? null;
}

const writeUnit = ({ host, data, user }: Installation, command: readonly string[]): string => `[Unit]
Description=linked server of svc for ${host}
After=network-online.target postgresql.service
Wants=network-online.target

[Service]
Type=exec
User=${user}
ExecStart=${formatUnitCommand([
  ...command,
  ...['server', 'serve', '--data', data, '--public-url', `https://${host}`, '--trust-proxy', '127.0.0.1'],
])}
# DATABASE_URL or SVC_LEASE_SECRET, if you use them.
EnvironmentFile=-${SECRETS_FILE}
Restart=on-failure
RestartSec=1
# Refused, as with a wrong option: again would be the same.
RestartPreventExitStatus=2 3 4
TimeoutStopSec=20
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=${[...command, data].some((path) => HOME_FOLDERS.test(path)) ? 'read-only' : 'yes'}
ReadWritePaths=${quoteUnitWord(data)}
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
# No MemoryDenyWriteExecute: Node.js compiles code while it runs.

[Install]
WantedBy=multi-user.target
`;

const writeCaddyfile = ({ host }: Installation, upstream: string): string => `${host} {
	reverse_proxy ${upstream} {
		transport http {
			# Shorter than the server's 65 s, so that no request meets a connection that the server closes.
			keepalive 30s
		}
	}
}
`;

/** Writes the script for root that installs both files. A Caddyfile that would be ambiguous stays as it is. */
function writeScript({ host, data, user }: Installation, unit: string, caddyfile: string): string {
  const folder = quoteForShell(data);
  const line = `import ${UNIT}.caddy`;
  const candidate = `${CADDY_MAIN}.new`;
  const last = `open https://${host}/setup and type in the code of ${data}/setup-code; other commands: sudo -u ${user} svc server … --data ${folder}`;
  return `# Installs https://${host}. Nothing is changed yet: read this, then run it as root, with | sudo sh
set -eu
trap 'rm -f ${candidate}' EXIT
test -f ${CADDY_MAIN} || { echo 'install Caddy first: ${CADDY_MAIN} is missing' >&2; exit 1; }

cat > ${UNIT_FILE} <<'END'
${unit}END

cat > ${CADDY_FILE} <<'END'
${caddyfile}END

if ! grep -qx '${line}' ${CADDY_MAIN}; then
  { cat ${CADDY_MAIN}; printf '\\n${line}\\n'; } > ${candidate}
  caddy adapt --adapter caddyfile --config ${candidate} > /dev/null
  cat ${candidate} > ${CADDY_MAIN}
fi
id -u ${user} > /dev/null 2>&1 ||
  useradd --system --user-group --home-dir ${folder} --no-create-home --shell /usr/sbin/nologin ${user}
test -d ${folder} || install -d -o ${user} -m 700 ${folder}
systemctl daemon-reload
systemctl enable ${UNIT}
systemctl restart ${UNIT}
systemctl reload-or-restart caddy
echo ${quoteForShell(last)}
`;
}

export const serverInstall = defineCommand({
  name: 'server install',
  about:
    'print a script that installs a linked server as a systemd service behind Caddy; the command itself changes nothing',
  flags: {
    host: { type: 'string', value: 'name', about: 'the public name of the server' },
    data: { type: 'string', value: 'dir', about: `the server's data folder (${DATA})` },
    user: { type: 'string', value: 'name', about: 'the system user that runs it (svc)' },
  },
  examples: ['server install --host svc.example.org', 'server install --host svc.example.org | sudo sh'],
  async run(context) {
    const { findAdminSocket, DEFAULT_ADDRESS } = await linkedServer();
    const { flags } = context;
    const user = readUserName(flags.user ?? 'svc');
    if (flags.host === undefined)
      throw usage('under which name?', 'svc server install --host svc.example.org');
    const host = readHostName(flags.host);
    const data = nameServerFolder(flags.data ?? DATA, context);
    checkUnitPath(data, '--data');
    if (data === '/' || TEMPORARY_FOLDERS.test(data))
      throw usage(`--data cannot be ${data}`, `name a folder for this server only, for example ${DATA}`);
    findAdminSocket(data);
    const command = getSvcCommand();
    for (const path of command) {
      checkUnitPath(path, 'this installation');
      const closed = findClosed(path, user);
      if (closed !== null)
        throw usage(
          `the user ${user} cannot run ${path}: ${closed} is closed to other users`,
          'install Node.js and svc for all users, for example below /usr/local, or name your own user with --user',
        );
    }
    const installation = { host, data, user };
    const unit = writeUnit(installation, command);
    const caddyfile = writeCaddyfile(installation, DEFAULT_ADDRESS);
    const script = writeScript(installation, unit, caddyfile);
    context.result(
      { url: `https://${host}`, unit_file: UNIT_FILE, unit, caddy_file: CADDY_FILE, caddyfile, script },
      () => script.trimEnd(),
    );
  },
});
