import { configuration, findWorkspace } from '../../engine/index.ts';
import type { Context } from '../command.ts';
import { daemonCommand } from '../self.ts';

/** As systemd.syntax(7) and systemd.service(5) want a word: in quotes, `%` and `$` doubled. */
const quoted = (word: string): string =>
  `"${word.replace(/["\\]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;

/** A variable's value is not a command line: a `$` stands for itself there. */
const assigned = (name: string, value: string): string =>
  `Environment="${name}=${value.replace(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`;

/** A unit of this user's systemd that hosts the workspace's engine in its foreground, and starts it again after a crash. */
export async function systemdUnit({ cwd, env }: Pick<Context, 'cwd' | 'env'>): Promise<string> {
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
${assigned('PATH', path)}
${assigned('SVC_CONFIG', file)}
${assigned('SVC_HOME', home)}
${assigned('MALLOC_ARENA_MAX', '2')}
#EnvironmentFile=%h/.config/svc/NAME.env
ExecStart=${daemonCommand().map(quoted).join(' ')}
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
