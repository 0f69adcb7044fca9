import { configuration } from '../../../../engine/index.ts';
import { actAsChair } from '../../../chair-act.ts';
import type { CommandContext } from '../../../command.ts';
import { readConsentView } from '../../configuration/trust.ts';

/** Replaces svc.yaml, by the engine if one runs: the person who has seen the change agrees to it. */
export async function writeSetupText(
  context: CommandContext,
  file: string,
  text: string,
  seen: string,
): Promise<void> {
  const { findActor, writeConfig } = await configuration();
  await actAsChair<unknown>(context, 'svc setup', {
    ask: (client) => client.call('config.write', { text, seen }),
    async alone() {
      writeConfig({ file, env: context.env, text, seen, actor: findActor(context.env) });
      return readConsentView(context);
    },
  });
}
