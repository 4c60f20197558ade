;;; lisp_exhaust.lisp: exhaust the heap in several ways, and continue. A failure leaves the
;;; functions that allocate by a throw.
(defpackage exhaust (:use cl))
(in-package exhaust)

(defstruct thing a b)
(defvar *out* 0)
(defvar *keep* nil)

(defun fill-up (n)
  (let ((kept nil))
    (handler-case
        (loop (push (ecase n
                      (0 (make-array 100000))
                      (1 (make-thing))
                      (2 (make-string 3000))
                      (3 (make-list 1000)))
                    kept))
      (ext:storage-exhausted () (incf *out*)))
    (setf kept nil)
    (ext:gc t)))

(defun work ()
  (let ((l nil))
    (dotimes (i 1000) (push (make-thing :a i :b (make-string 3)) l))
    (setf *keep* l)))

(defun run ()
  (ext:set-limit 'ext:heap-size (* 40 1024 1024))
  (dotimes (i 8)
    (fill-up (mod i 4))
    (work))
  (format t "exhausted ~D~%" *out*))
