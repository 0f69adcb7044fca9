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

/** Formats a systemd user unit that hosts the workspace's engine in the foreground and restarts it after a crash. */
export async function writeSystemdUnit({ cwd, env }: Pick<CommandContext, 'cwd' | 'env'>): Promise<string> {
  const { root, file } = findWorkspace({ cwd, env });
  const { resolveMachineHome } = await configuration();
  const home = resolveMachineHome(env);
  const path = env.PATH ?? '/usr/local/bin:/usr/bin:/bin';
  return `# Install it: svc up --unit > ~/.config/systemd/user/svc-NAME.service && systemctl --user daemon-reload
# Start it:   systemctl --user enable --now svc-NAME.service; svc down before, svc status afterwards
# Secrets:    NAME=VALUE lines of ${home}/keys.env, or of a file of your own below
[Unit]
Description=svc engine of ${escapeSpecifiers(root)}

[Service]
Type=exec
WorkingDirectory=${escapeSpecifiers(root)}
Environment=${quoteUnitWord(`PATH=${path}`)}
Environment=${quoteUnitWord(`SVC_CONFIG=${file}`)}
Environment=${quoteUnitWord(`SVC_HOME=${home}`)}
Environment=${quoteUnitWord('MALLOC_ARENA_MAX=2')}
#EnvironmentFile=%h/.config/svc/NAME.env
ExecStart=${formatUnitCommand(getDaemonCommand())}
Restart=on-failure
RestartSec=1
# Refused, as with an engine that runs already or a wrong svc.yaml: again would be the same.
RestartPreventExitStatus=2 3 4 5
# Workers go on without their engine, and are taken over at its next start.
KillMode=process
# Each run gets a cgroup of its own.
Delegate=yes

[Install]
WantedBy=default.target
`;
}
