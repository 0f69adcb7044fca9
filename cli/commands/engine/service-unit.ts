import { realpathSync } from 'node:fs';
import { DEFAULT_PATH, findOnPath } from '../../../engine/core/base/find-program.ts';
import { platform } from '../../../engine/core/platform/index.ts';
import { configuration, findWorkspace } from '../../../engine/index.ts';
import type { CommandContext } from '../../command.ts';
import { getDaemonCommand } from '../../self.ts';

/** Doubles `%`, which starts a specifier of systemd.unit(5). */
export const escapeSpecifiers = (text: string): string => text.replaceAll('%', '%%');

/** Quotes a word for systemd.syntax(7). */
export const quoteUnitWord = (word: string): string =>
  `"${escapeSpecifiers(word.replace(/["\\]/g, '\\$&'))}"`;

/** Formats a command, whose `$` are literal because of the colon (systemd.service(5)). */
export const formatUnitCommand = (words: readonly string[]): string =>
  words.map((word, at) => quoteUnitWord(at === 0 ? `:${word}` : word)).join(' ');

/** Formats text for an element of XML. */
const escapeXml = (text: string): string =>
  text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? sign);

const formatStrings = (words: readonly string[]): string =>
  words.map((word) => `\n    <string>${escapeXml(word)}</string>`).join('');

/** The facts about a workspace that a unit needs. */
interface UnitFacts {
  root: string;
  variables: Readonly<Record<string, string>>;
  command: readonly string[];
}

/** Formats an agent for launchd.plist(5), that hosts the workspace's engine and restarts it after a crash. */
export function formatLaunchdAgent({ root, variables, command }: UnitFacts): string {
  const label = `svc.${root.replace(/\W+/g, '-').replace(/^-|-$/g, '')}`;
  const entries = Object.entries(variables)
    .map(([name, value]) => `\n    <key>${name}</key><string>${escapeXml(value)}</string>`)
    .join('');
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- Save it as ~/Library/LaunchAgents/${label}.plist, then: svc down
     Start it:  launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/${label}.plist
     Secrets:   NAME=VALUE lines of keys.env in the folder of SVC_HOME -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${label}</string>
  <key>WorkingDirectory</key><string>${escapeXml(root)}</string>
  <key>ProgramArguments</key>
  <array>${formatStrings(command)}
  </array>
  <key>EnvironmentVariables</key>
  <dict>${entries}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <!-- Seconds between two starts: a refusal, as of a wrong svc.yaml, would be the same at once. -->
  <key>ThrottleInterval</key><integer>60</integer>
  <!-- Workers continue without their engine, and are taken over at its next start. -->
  <key>AbandonProcessGroup</key><true/>
</dict>
</plist>
`;
}

/** Names Node as the path does, if that leads to this one: its real path has its version in it, and goes with an upgrade. */
function nameNode(node: string, env: NodeJS.ProcessEnv): string {
  const found = findOnPath('node', env);
  return found !== undefined && realpathSync(found) === realpathSync(node) ? found : node;
}

/** Formats a unit of systemd or launchd for this user, that hosts the workspace's engine in the foreground. */
export async function writeServiceUnit({ cwd, env }: Pick<CommandContext, 'cwd' | 'env'>): Promise<string> {
  const { root, file } = findWorkspace({ cwd, env });
  const { resolveMachineHome } = await configuration();
  const home = resolveMachineHome(env);
  const variables = { PATH: env.PATH ?? DEFAULT_PATH, SVC_CONFIG: file, SVC_HOME: home };
  const [node = '', ...words] = getDaemonCommand();
  const facts = { root, variables, command: [nameNode(node, env), ...words] };
  return platform.name === 'darwin' ? formatLaunchdAgent(facts) : formatSystemdUnit(facts);
}

/** Formats a systemd user unit that hosts the workspace's engine in the foreground and restarts it after a crash. */
function formatSystemdUnit({ root, variables, command }: UnitFacts): string {
  const assignments = Object.entries({ ...variables, MALLOC_ARENA_MAX: '2' }).map(
    ([name, value]) => `Environment=${quoteUnitWord(`${name}=${value}`)}`,
  );
  return `# Install it: svc up --unit > ~/.config/systemd/user/svc-NAME.service && systemctl --user daemon-reload
# Start it:   systemctl --user enable --now svc-NAME.service; svc down before, svc status afterwards
# Secrets:    NAME=VALUE lines of ${variables.SVC_HOME}/keys.env, or of a file of your own below
[Unit]
Description=svc engine of ${escapeSpecifiers(root)}

[Service]
Type=exec
WorkingDirectory=${escapeSpecifiers(root)}
${assignments.join('\n')}
#EnvironmentFile=%h/.config/svc/NAME.env
ExecStart=${formatUnitCommand(command)}
Restart=on-failure
RestartSec=1
# Refused, as with an engine that runs already or a wrong svc.yaml: again would be the same.
RestartPreventExitStatus=2 3 4 5
# Workers continue without their engine, and are taken over at its next start.
KillMode=process
# Each run gets its own cgroup.
Delegate=yes

[Install]
WantedBy=default.target
`;
}
