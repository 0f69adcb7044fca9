import { SvcError } from '../../../../engine/core/base/errors.ts';
import { configuration } from '../../../../engine/index.ts';
import { type Command, defineCommand } from '../../../command.ts';
import { SETUP_KINDS } from './forge-kinds.ts';
import { findSetupRecord, type SetupRecord } from './record.ts';
import { writeSetupText } from './write-text.ts';

/** `svc setup undo`: removes from svc.yaml what a setup wrote. */
export const setupUndoCommand: Command = defineCommand({
  name: 'setup undo',
  about: 'remove from svc.yaml what the last setup has written; values that were changed since then stay',
  examples: ['setup undo'],
  async run(context) {
    const { findWorkspace, getAt, readConfigText, resolveMachineHome, setYamlValue } = await configuration();
    const { env, cwd } = context;
    const { file } = findWorkspace({ cwd, env });
    const record = findSetupRecord(resolveMachineHome(env), file);
    if (record === undefined)
      throw new SvcError('not_found', 'nothing was written here by a setup', {
        hint: `svc setup ${SETUP_KINDS.map(({ kind }) => kind).join(', svc setup ')}`,
      });
    const now = readConfigText(file);
    const { parse } = await import('yaml');
    const tree = (parse(now) ?? {}) as object;
    const isSame = (key: SetupRecord['keys'][number]): boolean =>
      JSON.stringify(getAt(tree, key.path)) === JSON.stringify(key.after);
    const unchanged = record.keys.filter(isSame);
    const nameKeys = (keys: SetupRecord['keys']): string[] => keys.map(({ path }) => path.join('.'));
    const left = nameKeys(record.keys.filter((key) => !unchanged.includes(key)));
    const text =
      now === record.written
        ? record.seen
        : unchanged.reduce((before, key) => setYamlValue(before, key.path, key.before ?? null), now);
    if (text !== now) await writeSetupText(context, file, text, now);
    const removed = nameKeys(unchanged);
    context.result({ file, removed, left }, () =>
      removed.length === 0 ? 'nothing was removed' : `removed from svc.yaml: ${removed.join(', ')}`,
    );
    if (left.length > 0) context.note(`note: changed since then, and left alone: ${left.join(', ')}`);
    return 0;
  },
});
