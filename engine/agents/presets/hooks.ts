import type { CommandLine, HookEvent } from './hook-event.ts';
import { formatShellCommand } from './shell-command.ts';

/** Seconds; a hook of ours that is slower than this is broken, and must not hold the agent up. */
export const HOOK_TIMEOUT_SEC = 10;

/** The command of ours at each moment. */
export type HookLines = Readonly<Record<HookEvent, CommandLine>>;

/** What an agent calls a moment, and of which tools or for which reasons it is to tell us of it; all when left out. */
export interface HookMoment {
  name: string;
  matcher?: string;
}

/** Those at which the agent takes words of ours, or a refusal. */
export type HookMoments = Readonly<Partial<Record<HookEvent, HookMoment>>>;

/** One entry of a list of hooks, under the agent's own name of the moment; under none where it has one list for all. */
export interface HookEntry {
  list: string;
  entry: Record<string, unknown>;
}

/** How an agent is told of our hooks: the same for one run as in the configuration of whoever installs them. */
export interface AgentHooks {
  moments: HookMoments;
  listEntries(lines: HookLines): HookEntry[];
  /** The whole text of the program that has them, where they are no entries. */
  buildPlugin?(lines: HookLines): string;
}

/** A command as an agent's configuration has it. */
type Hook = (line: CommandLine, event: HookEvent) => Record<string, unknown>;

/** For agents that hand it to a shell. */
export const buildShellHook: Hook = (line) => ({
  type: 'command',
  command: formatShellCommand(line),
  timeout: HOOK_TIMEOUT_SEC,
});

const listMoments = (moments: HookMoments): [HookEvent, HookMoment][] =>
  Object.entries(moments) as [HookEvent, HookMoment][];

/** In claude's form, which others have taken over: a list of commands beside the matcher. */
export const groupedHooks = (moments: HookMoments, hook: Hook = buildShellHook): AgentHooks => ({
  moments,
  listEntries: (lines) =>
    listMoments(moments).map(([event, { name, ...matcher }]) => ({
      list: name,
      entry: { ...matcher, hooks: [hook(lines[event], event)] },
    })),
});

/** Entries that are the command itself. */
export const flatHooks = (moments: HookMoments, hook: Hook): AgentHooks => ({
  moments,
  listEntries: (lines) =>
    listMoments(moments).map(([event, { name, ...matcher }]) => ({
      list: name,
      entry: { ...matcher, ...hook(lines[event], event) },
    })),
});

/** As a settings file has them. */
export const groupHookEntries = ({ listEntries }: AgentHooks, lines: HookLines): Record<string, object[]> =>
  Object.fromEntries(
    [...Map.groupBy(listEntries(lines), ({ list }) => list)].map(([list, all]) => [
      list,
      all.map(({ entry }) => entry),
    ]),
  );
