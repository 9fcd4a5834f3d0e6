#!/bin/sh
# enter-root.sh ROOT [SOURCE TARGET rw|ro]… -- USER GROUP FOLDER NAME=VALUE… COMMAND…
# In mount and process namespaces of its own: a read-only root, the given mounts, no capability, and the command is PID 1.
set -eu
root=$1
shift
mount --rbind "$root" "$root"
while [ "$1" != -- ]; do
  mount --bind "$1" "$root$2"
  [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
  shift 3
done
shift
user=$1 group=$2 folder=$3
shift 3
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -o remount,bind,ro "$root"
# The kernel forgets the signal at the parent's death when the user changes, so it is asked for again.
exec chroot "$root" /usr/bin/setpriv --pdeathsig KILL --reuid "$user" --regid "$group" --clear-groups --no-new-privs \
  --inh-caps=-all --bounding-set=-all /usr/bin/env -i -C "$folder" "$@"
