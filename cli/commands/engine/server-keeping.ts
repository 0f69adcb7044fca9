import { resolve } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { linkedServer } from '../../../engine/index.ts';
import { askForPassword } from '../../ask-password.ts';
import { type Command, defineCommand } from '../../command.ts';
import { administerServer, DATA_FLAG, findServerFolder, openServerFolder } from './server-folder.ts';

const exportCommand = defineCommand({
  name: 'server export',
  about: 'export all data of a linked server to a file: as a backup, or to move to another database',
  args: [{ name: 'file', about: 'new file; only its owner can read it' }],
  flags: DATA_FLAG,
  examples: ['server export backup.jsonl'],
  async run(context) {
    const [name = ''] = context.args;
    const file = resolve(context.cwd, name);
    const done = (await administerServer(context, 'export', { file })) as { rows: number };
    context.result({ file, ...done }, ({ rows }) => `${rows} rows are in ${file}`);
    context.note('the root secret is not in it: back up server.key or SVC_LEASE_SECRET as well');
    return 0;
  },
});

const importCommand = defineCommand({
  name: 'server import',
  about:
    'fill a new linked server from a file of svc server export; needs an empty database and the same root secret',
  args: [{ name: 'file', about: 'file written by svc server export' }],
  flags: DATA_FLAG,
  examples: ['server import backup.jsonl', 'server import backup.jsonl --data /srv/svc'],
  async run(context) {
    const { importServer } = await linkedServer();
    const folder = openServerFolder(context.flags.data, context);
    const [name = ''] = context.args;
    const done = await importServer({ folder, env: context.env }, resolve(context.cwd, name));
    context.result(done, ({ rows, database }) => `${rows} rows are in ${database}`);
    context.note(
      'the root secret is not in it: the server needs its earlier secret, in server.key or SVC_LEASE_SECRET',
    );
    return 0;
  },
});

const rotateKey = defineCommand({
  name: 'server rotate-key',
  about:
    'create a new root secret and re-encrypt everything; the server must be stopped; workspaces have to be linked again',
  flags: {
    secret: {
      type: 'string',
      value: '-',
      about: 'read the new secret from stdin; needed where SVC_LEASE_SECRET holds it',
    },
    ...DATA_FLAG,
  },
  examples: ['server rotate-key', 'server rotate-key --secret - < new-secret'],
  async run(context) {
    const { rotateServerKey } = await linkedServer();
    const { secret, data } = context.flags;
    if (secret !== undefined && secret !== '-')
      throw new SvcError('usage', 'a secret cannot be given as an argument', {
        hint: 'svc server rotate-key --secret - reads it',
      });
    const folder = findServerFolder(data, context);
    const given = secret === undefined ? null : await askForPassword(context, 'new secret:');
    const done = await rotateServerKey({ folder, env: context.env }, given);
    context.result(
      done,
      ({ values, file }) =>
        `${values} values were re-encrypted; ${file === null ? 'start the server with the new SVC_LEASE_SECRET' : `the new secret is in ${file}`}`,
    );
    context.note('back up the new secret; workspaces have to be linked again');
    return 0;
  },
});

export const serverKeepingCommands: readonly Command[] = [exportCommand, importCommand, rotateKey];
