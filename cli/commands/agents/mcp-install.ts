import { SvcError } from '../../../engine/core/base/errors.ts';
import { configuration } from '../../../engine/index.ts';
import { CLIENT_NAMES, type ClientScope } from '../../clients/clients.ts';
import { findClient, findProjectFolder, type InstallPlan, planInstall } from '../../clients/install.ts';
import { type Command, defineCommand } from '../../command.ts';
import { findMcpCommand } from '../../self.ts';

/** The result of `svc mcp install`. */
interface Report {
  client: string;
  scope: ClientScope;
  file: string;
  /** none: the entry already existed. */
  change: 'created' | 'added' | 'replaced' | 'none';
  written: boolean;
  entry: Record<string, unknown>;
  /** The entry in the format of the file. */
  text: string;
}

const CHANGES = { no_file: 'created', absent: 'added', same: 'none', different: 'replaced' } as const;

/** The file may contain keys, so only its owner may read it. */
const USER_FILE_MODE = 0o600;

/** `svc mcp install`: adds svc to an agent program's own configuration. */
export const mcpInstallCommand: Command = defineCommand({
  name: 'mcp install',
  about: "add svc mcp to an agent's own configuration, so that it has the tools of svc",
  args: [{ name: 'client', about: 'the agent', choices: CLIENT_NAMES }],
  flags: {
    user: { type: 'boolean', about: 'use the file for all folders, not the one for this project' },
    print: { type: 'boolean', about: 'only print what would be written, and where' },
    force: { type: 'boolean', short: 'f', about: 'replace another server called svc' },
  },
  examples: ['mcp install claude', 'mcp install gemini --user', 'mcp install codex --print'],
  async run(context) {
    const { cwd, env, flags, note } = context;
    const client = (await findClient(context.args[0]!))!;
    const scope: ClientScope = flags.user || client.project === null ? 'user' : 'project';
    const { isPortable, ...server } = await findMcpCommand(context);
    const plan = await planInstall(client, server, { scope, root: findProjectFolder(cwd, env), env });
    if (plan.state === 'different' && !flags.force && !flags.print) throw createOtherServerError(plan);
    const isWritten = plan.state !== 'same' && !flags.print;
    if (isWritten) {
      const { replaceFile } = await configuration();
      replaceFile(plan.file, plan.text, scope === 'user' ? { mode: USER_FILE_MODE } : {});
    }
    const { file, entry, shown } = plan;
    const change = CHANGES[plan.state];
    const report: Report = {
      client: client.name,
      scope,
      file,
      change,
      written: isWritten,
      entry,
      text: shown,
    };
    context.result(report, flags.print ? formatPlanned : formatDone);
    if (plan.state === 'different' && !flags.force)
      note(`note: it already has another server called svc; --force replaces it`);
    const next = client.next?.[scope];
    if (next !== undefined && plan.state !== 'same') note(`note: ${next}`);
    if (!isPortable && scope === 'project') {
      note('note: this svc is not on PATH, so the file contains paths of this machine: do not share it');
    }
  },
});

const createOtherServerError = ({ client, file }: InstallPlan): SvcError =>
  new SvcError('exists', `${file} has another server called svc`, {
    hint: `svc mcp install ${client} --force replaces it; with --print it only shows what would be written`,
    data: { file },
  });

const formatDone = ({ change, file }: Report): string =>
  change === 'none'
    ? `nothing to do: ${file} has it already`
    : `${change === 'created' ? 'wrote' : 'changed'} ${file}`;

const formatPlanned = ({ change, file, text }: Report): string => {
  const what = {
    created: 'would create',
    added: 'would add to',
    replaced: 'would replace in',
    none: 'is in',
  }[change];
  return `${what} ${file}:\n\n${text}`;
};
