/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { isOverlapping } from '../deliveries/target-secrets.ts';
import { ConfirmPage } from '../pages/front.tsx';
import type { ServerEnv, ServerParts } from './context.ts';
import { readSaid, requireAdmin } from './guards.ts';
import { readRefusal } from './refusals.ts';
import { readTargetWish, SETTINGS_SAID, type TargetViews } from './target-views.tsx';

/** The page of a target, and its changes. */
export function targetRoutes(
  { targets, deliveries }: ServerParts,
  { renderTarget, withTarget }: TargetViews,
): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();

  routes.get(
    '/settings/targets/:id',
    withTarget(async (context, target) => {
      return renderTarget(context, target, { said: readSaid(context, SETTINGS_SAID) });
    }),
  );
  routes.post(
    '/settings/targets/:id',
    requireAdmin,
    withTarget(async (context, target) => {
      const { wish } = await readTargetWish(context);
      try {
        await targets.change(target, wish, context.get('signedIn').person.name);
        return context.redirect(`/app/settings/targets/${target.id}?said=saved`, 303);
      } catch (thrown) {
        const { error, status } = readRefusal(thrown);
        return renderTarget(context, target, { error, wish }, status);
      }
    }),
  );
  for (const word of ['on', 'off'] as const)
    routes.post(
      `/settings/targets/:id/${word}`,
      requireAdmin,
      withTarget(async (context, target) => {
        await targets.switch(target, word === 'on', context.get('signedIn').person.name);
        return context.redirect(`/app/settings/targets/${target.id}?said=${word}`, 303);
      }),
    );
  routes.post(
    '/settings/targets/:id/resume',
    requireAdmin,
    withTarget(async (context, target) => {
      await targets.resume(target, context.get('signedIn').person.name);
      return context.redirect(`/app/settings/targets/${target.id}?said=resumed`, 303);
    }),
  );
  routes.post(
    '/settings/targets/:id/test',
    requireAdmin,
    withTarget(async (context, target) => {
      const { ok, status, error, ms } = await deliveries.test(target);
      const answer = status === null ? error : `HTTP ${status}`;
      return renderTarget(
        context,
        target,
        ok
          ? { said: `The test arrived: ${answer} after ${ms} ms.` }
          : { error: `The test did not arrive: ${answer}, after ${ms} ms.` },
      );
    }),
  );
  routes.get(
    '/settings/targets/:id/remove',
    requireAdmin,
    withTarget(async (context, target) => {
      return context.html(
        <ConfirmPage
          signedIn={context.get('signedIn')}
          title={`Remove ${target.name}?`}
          text="Waiting events are not sent, and sent ones are no longer shown. This cannot be undone."
          action={`/app/settings/targets/${target.id}/remove`}
          label="Remove"
          back={`/app/settings/targets/${target.id}`}
        />,
      );
    }),
  );
  routes.post(
    '/settings/targets/:id/remove',
    requireAdmin,
    withTarget(async (context, target) => {
      await targets.remove(target, context.get('signedIn').person.name);
      return context.redirect('/app/settings?said=removed', 303);
    }),
  );
  return routes;
}

/** Makes new secrets of a target. */
export function targetSecretRoutes(
  { targets, clock }: ServerParts,
  { renderTarget, findTarget, withTarget }: TargetViews,
): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();

  routes.get(
    '/settings/targets/:id/secret',
    requireAdmin,
    withTarget(async (context, target) => {
      const place = `/app/settings/targets/${target.id}`;
      const endsOverlap = isOverlapping(target, clock.now());
      return context.html(
        <ConfirmPage
          signedIn={context.get('signedIn')}
          title={`${endsOverlap ? 'Another' : 'A'} new secret for ${target.name}?`}
          text={
            endsOverlap
              ? 'The last secret was created within a day. Another one ends the previous secret immediately: receivers that verify with it reject further events.'
              : 'For a day events are also signed with the present secret.'
          }
          action={`${place}/secret${endsOverlap ? '?ends_overlap=1' : ''}`}
          label="New secret"
          back={place}
        />,
      );
    }),
  );
  routes.post(
    '/settings/targets/:id/secret',
    requireAdmin,
    withTarget(async (context, target) => {
      try {
        const endsOverlap = context.req.query('ends_overlap') === '1';
        const secret = await targets.rotateSecret(target, context.get('signedIn').person.name, {
          endsOverlap,
        });
        const changed = await findTarget(context);
        const said = 'For a day events are also signed with the previous secret.';
        return await renderTarget(context, changed ?? target, { secret, said });
      } catch (thrown) {
        const { error, status } = readRefusal(thrown);
        return renderTarget(context, target, { error }, status);
      }
    }),
  );
  return routes;
}
