/** @jsxImportSource hono/jsx */
import { TARGET_KINDS, type TargetKind, type TargetRow } from '../database/tables.ts';
import { readWorkspaces } from '../deliveries/chosen-workspaces.ts';
import type { TargetWish } from '../deliveries/target-wish.ts';
import { isShortLived } from '../deliveries/targets.ts';
import { TargetPage } from '../pages/target.tsx';
import type { OfferedWorkspaces } from '../pages/target-workspaces.tsx';
import type { ServerContext, ServerParts } from './context.ts';
import { readFormLists } from './guards.ts';
import type { RefusalText } from './refusals.ts';

/** The texts after a redirection, by the word in its address. */
export const SETTINGS_SAID: Readonly<Record<string, string>> = {
  saved: 'Saved.',
  removed: 'The target was removed, with its deliveries.',
  on: 'It is switched on.',
  off: 'It is switched off. Events in the meantime do not go there.',
  resumed: 'Resumed. Waiting events are sent now.',
  again: 'It is sent again immediately, unless its target is paused, off or locked.',
};

/** Number of named workspaces of a target; the others are counted. */
const NAMES_SHOWN = 10;

export const readTargetKind = (text: string): TargetKind | null =>
  TARGET_KINDS.find((kind) => kind === text) ?? null;

export async function readTargetWish(
  context: ServerContext,
): Promise<{ kind: TargetKind | null; wish: TargetWish }> {
  const field = await readFormLists(context);
  const scope = field('scope')[0];
  return {
    kind: readTargetKind(field('kind')[0] ?? ''),
    wish: {
      name: field('name')[0] ?? '',
      url: field('url')[0] ?? '',
      events: field('events[]'),
      workspaces: {
        scope: scope === 'ticked' || scope === 'listed' ? scope : 'all',
        ticked: field('workspaces[]'),
      },
    },
  };
}

interface ShownTarget {
  said?: string | null;
  error?: string | null;
  secret?: string | null;
  wish?: TargetWish;
}
export type TargetViews = ReturnType<typeof createTargetViews>;

/** Renders the page of a target, and what its forms offer. */
export function createTargetViews({ targets, plans, workspaces, clock }: ServerParts) {
  /** Lists the workspaces for a form, and the names of the first ones of a target. */
  async function readOffered(account: string, target?: TargetRow): Promise<OfferedWorkspaces> {
    const [first, named] = await Promise.all([
      workspaces.listPage(account, {}),
      workspaces.listPage(
        account,
        {},
        { ids: (target && readWorkspaces(target))?.slice(0, NAMES_SHOWN) ?? [] },
      ),
    ]);
    return { offered: first.next === null ? first.rows : null, named: named.rows };
  }

  async function renderTarget(
    context: ServerContext,
    target: TargetRow,
    facts: ShownTarget = {},
    status: 200 | RefusalText['status'] = 200,
  ) {
    const signedIn = context.get('signedIn');
    return context.html(
      <TargetPage
        signedIn={signedIn}
        target={target}
        entitlements={await plans.entitlementsOf(signedIn.account.id)}
        now={clock.now()}
        workspaces={await readOffered(signedIn.account.id, target)}
        isShortLived={isShortLived({ kind: target.kind, url: targets.open(target).url })}
        {...facts}
      />,
      status,
    );
  }
  /** Finds the target in the address; null for one of another account. */
  const findTarget = (context: ServerContext): Promise<TargetRow | null> =>
    targets.find(context.req.param('id') ?? '', context.get('signedIn').account.id);

  /** Wraps an answer about the target in the address; one of another account is not found. */
  const withTarget =
    (answer: (context: ServerContext, target: TargetRow) => Promise<Response>) =>
    async (context: ServerContext): Promise<Response> => {
      const target = await findTarget(context);
      return target === null ? context.notFound() : answer(context, target);
    };

  return { readOffered, renderTarget, findTarget, withTarget };
}
