import { z } from 'zod';
import { operation } from '../../core/api/operation.ts';
import { renderWords } from '../../core/api/words.ts';
import { sentence } from '../../core/base/sentence.ts';
import { readsStoredText } from '../../gateway/index.ts';
import { crushAndStore, keepPlaced, placeText } from './crush-and-store.ts';
import type { StoredTexts } from './index.ts';
import { longText } from './long-text.ts';

/** A smaller share of a text is not worth a replacement. */
const WORTH = 0.1;

/** Maximum characters of a call: a command that requests a stored text is short. */
const MOST_CALL = 65_536;

/** The name for the savings of hooks in `context.stats`. */
const COUNTED_AS = 'post_tool_hook';

/** Creates the operation by which agents' hooks shorten a long tool output. */
export function shortenOperations({ texts }: { texts: StoredTexts }) {
  return [
    operation({
      name: 'context.shorten',
      about:
        'The replacement of a tool’s long output, according to context.guidance; or, if the agent accepts none, a notice about it.',
      seat: 'any',
      changes: true,
      input: z.strictObject({
        text: longText,
        is_replaceable: z.boolean(),
        exit_code: z.int().optional(),
        /** The arguments of the tool as JSON; long ones are cut. */
        tool_call: z.string().max(MOST_CALL).default(''),
      }),
      async run(input, caller, call) {
        const { text, is_replaceable: isReplaceable, exit_code: exitCode = null } = input;
        const nothing = { text: null, note: null };
        if (readsStoredText(input.tool_call)) return nothing;
        const { crushes, stores } = texts.settings();
        const { crush } = await import('./crush/index.ts');
        const { bytesIn, bytesOut, kind, omissions } = crush(text);
        if (omissions.length === 0 || bytesIn - bytesOut < bytesIn * WORTH) return nothing;
        const { store } = await texts.open();
        const counted = (bytes: number): void => {
          if (isReplaceable) store.count(caller.sessionId, COUNTED_AS, bytesIn, bytes);
        };
        if (crushes && isReplaceable) {
          const { crushed } = await crushAndStore(texts, text, {
            caller,
            exitCode,
            write: call.begin,
            counted: (done) => counted(done.bytesOut),
          });
          return { text: crushed.text, note: null };
        }
        if (!stores) return nothing;
        const placed = await placeText(texts, text);
        const { composeStub, findExitCode } = await import('./stub.ts');
        const found = findExitCode(text);
        return keepPlaced(texts, placed, () =>
          call.finish(() => {
            const kept = store.keep({ ...placed, kind, told: exitCode, found }, texts.holderOf(caller));
            if (!isReplaceable) return { text: null, note: explainKept(kept.id, bytesIn, bytesOut) };
            const { idleMs } = texts.settings();
            const stub = composeStub({ ...kept, exitCode: exitCode ?? found, idleMs }, text);
            counted(Buffer.byteLength(stub));
            return { text: stub, note: null };
          }),
        );
      },
    }),
  ];
}

const explainKept = (id: string, bytesIn: number, bytesOut: number): string =>
  renderWords(
    sentence`All but ${bytesOut} of the ${bytesIn} bytes of this output repeat or only report success. It is stored as ${id}: once it has left your context, {context.retrieve ${id}} returns it, so you need not run anything again.`,
    'anyone',
  );
