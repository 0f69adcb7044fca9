import { sentence } from '../../../../core/base/sentence.ts';
import type { GuidanceTexts } from '../rules.ts';

export const spanish: GuidanceTexts = {
  entry_chair: sentence`Tú decides y repartes el trabajo: deja a los workers lo que lleva tiempo y reserva tu contexto para el conjunto.`,
  clarify_before_spawn: sentence`Aclara las dudas con la persona antes de iniciar un worker; no puede preguntar por lo que hayas omitido.`,
  multiphase_tasks: sentence`Divide el trabajo de varias fases en tareas propias con {task.add}, cada una con criterios que se puedan comprobar.`,
  workers_no_fanout: sentence`No inicies workers ni agentes propios. Si la tarea es demasiado grande para uno, dilo con {ask}.`,
  search_before_create: sentence`Busca código existente antes de escribir código nuevo, y usa lo que ya hay.`,
  lock_shared: sentence`Bloquea lo que otros comparten con {lock.acquire} antes de editarlo, y libéralo con {lock.release} cuando termines.`,
  bus_only: sentence`Habla con otras sesiones solo mediante {msg.send} y {ask}, nunca mediante archivos, comentarios o mensajes de commit.`,
  disk_memory: sentence`Guarda con {memory.remember} lo que deba saber la siguiente sesión, no en tu contexto; consulta {memory.recall} antes de decidir.`,
  crush: sentence`Mantén las salidas largas fuera de tu contexto: pásalas en la shell por \`svc context crush\`, que deja lo que importa y dice cómo obtener el resto.`,
  externalize: sentence`Guarda con {context.externalize} un texto largo que quizá vuelvas a necesitar y conserva solo su id; {context.retrieve} lo devuelve, {context.search} encuentra partes.`,
  auto_gateway: sentence`Las salidas de las herramientas pueden llegarte acortadas: lo que omite una línea con [svc-crush: o [svc-stored: te lo da {context.retrieve} con su id; no ejecutes el comando otra vez para eso.`,
};
