import { configuration, findWorkspace } from '../../../engine/index.ts';
import type { CommandContext } from '../../command.ts';
import { getDaemonCommand } from '../../self.ts';

/** Quotes a word for systemd.syntax(7) and systemd.service(5), with `%` and `$` doubled. */
const quoteUnitWord = (word: string): string =>
  `"${word.replace(/["\\]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;

/** Formats a variable. Its value is not a command line, so `$` is literal there. */
const formatAssignment = (name: string, value: string): string =>
  `Environment="${name}=${value.replace(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`;

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
Description=svc engine of ${root.replaceAll('%', '%%')}

[Service]
Type=exec
WorkingDirectory=${root.replaceAll('%', '%%')}
${formatAssignment('PATH', path)}
${formatAssignment('SVC_CONFIG', file)}
${formatAssignment('SVC_HOME', home)}
${formatAssignment('MALLOC_ARENA_MAX', '2')}
#EnvironmentFile=%h/.config/svc/NAME.env
ExecStart=${getDaemonCommand().map(quoteUnitWord).join(' ')}
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
