import type { Caller } from '../../core/api/operation.ts';
import type { HookEvent } from '../../workers/agents/presets/index.ts';

/** What a tool call is about to make of a file. */
export interface PlannedWrite {
  /** Absolute. */
  path: string;
  removed?: boolean | undefined;
  /** All that it will hold. */
  text?: string | undefined;
  /** What is replaced in it, in turn. `old` is empty for what is only added; `all` takes every place, else the first. */
  edits?: readonly { old: string; new: string; all: boolean }[] | undefined;
}

/** A moment in an agent's work at which something may be said to it. */
export interface Moment {
  event: HookEvent;
  /** The preset. */
  agent: string;
  caller: Caller;
  /** Where the agent stands, absolute. */
  cwd: string;
  /** Files that the tool call names, absolute: before a write those that it is about to change. */
  paths: readonly string[];
  tool: string | null;
  /** What the tool has answered, in bytes; null where that is not known. */
  outputBytes: number | null;
  /** Before a write: what it is about to make of them, as far as the call says. */
  writes?: readonly PlannedWrite[];
  /** Whether text reaches the model now. Where it does not, it is kept for the next moment at which it does. */
  carries: boolean;
}

/** What is said to it. */
export interface Remark {
  /** Why the write must not happen, for the model to read. Before a write only. */
  deny?: string | null;
  /** What the model is told besides, one text each. */
  context?: readonly string[];
}

/** A contributor of text. Its errors are logged, and do not silence the others. */
export interface Contributor {
  name: string;
  look(moment: Moment): Remark | null | Promise<Remark | null>;
}

export interface Look {
  deny: string | null;
  context: string[];
  /** The output is so long that it is to be sent, to be shortened. */
  wantsOutput: boolean;
}

/** Collects what an agent is told at its hooks. */
export interface Hooks {
  look(moment: Moment): Promise<Look>;
}

/** How much is kept for agents that cannot be told at once, and for how many of them. */
const KEPT_TEXTS = 20;
const KEPT_SESSIONS = 200;

export function createHooks({
  contributors,
  wantsOutput,
  log,
}: {
  /** In order of speaking; the last refusal wins. */
  contributors: readonly Contributor[];
  /** Whether what a tool has answered is to be shortened. */
  wantsOutput(moment: { tool: string | null; outputBytes: number }): boolean;
  log: { warn(facts: object, text: string): void };
}): Hooks {
  /** Texts for a moment that carries them, by session. */
  const kept = new Map<string, string[]>();

  function keepText(whose: string, texts: readonly string[]): void {
    const all = [...(kept.get(whose) ?? []), ...texts].slice(-KEPT_TEXTS);
    // Set anew, so that the one not heard of for longest is the first.
    kept.delete(whose);
    kept.set(whose, all);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_SESSIONS && oldest !== undefined) kept.delete(oldest);
  }

  return {
    async look(moment) {
      const context: string[] = [];
      let deny: string | null = null;
      for (const { name, look } of contributors) {
        try {
          const remark = await look(moment);
          context.push(...(remark?.context ?? []));
          deny = (moment.event === 'pre-write' ? remark?.deny : null) ?? null;
        } catch (error) {
          log.warn({ hook: moment.event, contributor: name, error }, 'a hook returned nothing');
        }
        if (deny !== null) break;
      }
      const { seat, sessionId, project } = moment.caller;
      const whose = sessionId ?? `${seat}@${project ?? ''}`;
      if (moment.carries) {
        context.unshift(...(kept.get(whose) ?? []));
        kept.delete(whose);
      } else if (context.length > 0 && deny === null) {
        keepText(whose, context.splice(0));
      }
      const { event, tool, outputBytes } = moment;
      const isLong = event === 'post-tool' && outputBytes !== null && wantsOutput({ tool, outputBytes });
      return { deny, context, wantsOutput: isLong };
    },
  };
}
