;;; chains.lisp: functions that call each other at random, allocate, and record their callers.
;;;
;;; Each function puts its name on *chain*, a special variable. At a moment to compare, the program
;;; counts the chain and then makes a bit vector; it makes no other bit vectors. In interpreted
;;; code, and in code compiled with (debug 3), ECL's own list of frames must equal *chain*; *other*
;;; counts the differences.
(defpackage chains (:use cl))
(in-package chains)

(defvar *chain* nil)
(defvar *truth* (make-hash-table :test 'equal))
(defvar *left* 0)
(defvar *seed* 1)
(defvar *ihs* nil)
(defvar *other* 0)
(defvar *keep* (make-array 64))
(defvar *table* (let ((table (make-hash-table))) (setf (gethash 1 table) 2) table))
(defvar *names* '(f0 f1 f2 f3 f4 setf-f5 inner outer side lambda))

(defun chance (n)
  (setf *seed* (mod (+ (* *seed* 1103515245) 12345) 2147483648))
  (mod (ash *seed* -8) n))

;;; Return the chain by ECL's own list of frames, innermost first.
(defun ihs-chain ()
  (let ((chain nil))
    (loop for i from 1 to (si::ihs-top)
          do (let* ((f (si::ihs-fun i))
                    (name (if (functionp f) (si::compiled-function-name f) f)))
               (when (or (and (functionp f) (null name))
                         (and (symbolp f) (eql 0 (search "LAMBDA" (symbol-name f)))))
                 (setf name 'lambda))
               (when (equal name '(setf f5))
                 (setf name 'setf-f5))
               (when (member name *names*)
                 (push name chain))))
    chain))

(defmacro in ((name) &body body)
  `(let ((*chain* (cons ',name *chain*)))
     (multiple-value-prog1 (progn ,@body) (chance 2))))

(defun mark ()
  (when (and *ihs* (not (equal (ihs-chain) *chain*)))
    (incf *other*))
  (incf (gethash *chain* *truth* 0))
  (setf (aref *keep* (chance 64)) (make-array 3 :element-type 'bit))
  nil)

(declaim (notinline f0 f1 f2 f3 f4 mark act chance))

(defun act (d)
  (loop repeat (1+ (chance 4)) while (> *left* 0)
        do (decf *left*)
           (if (or (> d 3) (= 0 (chance 3)))
               (mark)
               (case (chance 6) (0 (f0 d)) (1 (f1 (1+ d))) (2 (f2 (1+ d))) (3 (f3 (1+ d)))
                 (4 (setf (f5 (1+ d)) 1)) (t (f4 (1+ d)))))))

(defun f0 (d) (in (f0) (mark) (act (1+ d)) (mark)))

;;; These calls go through functions of ECL that call back.
(defun f1 (d)
  (in (f1)
    (case (chance 6)
      (5 (maphash (lambda (k v) (in (lambda) (act (+ d k)) v)) *table*))
      (4 (sort (list 3 1 2) #'< :key (lambda (x) (in (lambda) (mark) x))))
      (0 (mapcar #'f0 (list d (1+ d))))
      (1 (mapc (lambda (x) (in (lambda) (act x))) (list d)))
      (2 (apply #'f2 (list d)))
      (t (sort (list 3 1 2) (lambda (a b) (in (lambda) (mark) (< a b))))))
    (mark)))

;;; These functions are left by throw, error and return.
(defun f2 (d)
  (in (f2)
    (case (chance 4)
      (0 (catch 'out (act (1+ d)) (f3 (1+ d))))
      (1 (handler-case (progn (act (1+ d)) (when (= 0 (chance 2)) (error "no")) (mark))
           (error () (mark))))
      (2 (block found (mapc (lambda (x) (in (lambda) (act x) (return-from found x))) (list d 1))))
      (t (unwind-protect (catch 'out (act (1+ d))) (mark))))
    (mark)))

(defun f3 (d)
  (in (f3)
    (flet ((side (n) (in (side) (mark) (act n))))
      (funcall (if (= 0 (chance 2)) #'act #'side) (1+ d)))
    (when (and (member 'f2 *chain*) (= 0 (chance 6)))
      (catch 'out (throw 'out nil)))
    (mark)))

;;; These are local functions; one is recursive.
(defun f4 (d)
  (in (f4)
    (labels ((inner (n) (in (inner) (if (> n 0) (inner (1- n)) (act (1+ d))) (mark)))
             (outer (n) (in (outer) (mark) (inner n))))
      (funcall (if (= 0 (chance 2)) #'inner #'outer) (chance 3)))
    (mark)))

(defun (setf f5) (value d) (in (setf-f5) (mark) (act (1+ d)) value))

(defun run (steps seed)
  (setf *left* steps *seed* seed)
  (loop while (> *left* 0) do (act 0))
  (with-open-file (to "truth" :direction :output :if-exists :supersede)
    (maphash (lambda (chain count) (format to "~D~{ ~A~}~%" count chain)) *truth*))
  (format t "other ~D~%" *other*))
