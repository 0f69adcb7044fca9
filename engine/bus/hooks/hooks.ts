import type { Caller } from '../../core/api/operation.ts';
import type { HookEvent } from '../../workers/agents/presets/index.ts';

/** The change that a tool call is about to make to a file. */
export interface PlannedWrite {
  /** Absolute. */
  path: string;
  removed?: boolean | undefined;
  /** Its whole new content. */
  text?: string | undefined;
  /** The replacements in it, in order. `old` is empty for an addition; `all` replaces every occurrence, otherwise the first. */
  edits?: readonly { old: string; new: string; all: boolean }[] | undefined;
}

/** A hook event in an agent's work. */
export interface HookMoment {
  event: HookEvent;
  /** The preset. */
  agent: string;
  caller: Caller;
  /** The agent's current folder, absolute. */
  cwd: string;
  /** Files that the tool call names, absolute: before a write those to be changed. */
  paths: readonly string[];
  tool: string | null;
  /** Size of the tool's output in bytes; null if unknown. */
  outputBytes: number | null;
  /** Before a write: the planned changes, as far as the call contains them. */
  writes?: readonly PlannedWrite[];
  /** True if text reaches the model now. Otherwise it is kept for the next event that can carry it. */
  carries: boolean;
}

/** The answer to a hook event. */
export interface HookContribution {
  /** Why the write must not happen, for the model. Before a write only. */
  deny?: string | null;
  /** Further texts for the model. */
  context?: readonly string[];
}

/** A contributor of text. Its errors are logged, and do not affect the others. */
export interface HookContributor {
  name: string;
  look(moment: HookMoment): HookContribution | null | Promise<HookContribution | null>;
}

export interface HookResult {
  deny: string | null;
  context: string[];
  /** True if the output is long and must be sent to be shortened. */
  wantsOutput: boolean;
}

/** Collects the texts for an agent at its hooks. */
export interface Hooks {
  look(moment: HookMoment): Promise<HookResult>;
}

/** Maximum texts kept for agents that cannot receive them now, and maximum number of such agents. */
const KEPT_TEXTS = 20;
const KEPT_SESSIONS = 200;

export function createHooks({
  contributors,
  wantsOutput,
  log,
}: {
  /** In order of contribution; the last refusal wins. */
  contributors: readonly HookContributor[];
  /** Reports whether a tool's output is to be shortened. */
  wantsOutput(moment: { tool: string | null; outputBytes: number }): boolean;
  log: { warn(facts: object, text: string): void };
}): Hooks {
  /** Texts for an event that carries them, by session. */
  const kept = new Map<string, string[]>();

  function keepText(whose: string, texts: readonly string[]): void {
    const all = [...(kept.get(whose) ?? []), ...texts].slice(-KEPT_TEXTS);
    // Inserted again, so that the least recently seen session is the first.
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
